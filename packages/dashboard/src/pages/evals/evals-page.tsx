import { PageHead } from '../../components/page-head.tsx';

export function EvalsPage() {
  return <PageHead title="Evals" />;
}
