import { PageHead } from '../../components/page-head.tsx';

export function ApprovalsPage() {
  return <PageHead title="Approvals" />;
}
