import { PageHead } from '../../components/page-head.tsx';

export function AgentsPage() {
  return <PageHead title="Agents" />;
}
