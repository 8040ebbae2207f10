import { PageHead } from '../../components/page-head.tsx';

export function SessionsPage() {
  return <PageHead title="Sessions" />;
}
