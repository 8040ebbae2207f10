import { PageHead } from '../../components/page-head.tsx';

export function TasksPage() {
  return <PageHead title="Tasks" />;
}
