import { PageHead } from '../../components/page-head.tsx';

export function TriggersPage() {
  return <PageHead title="Triggers" />;
}
