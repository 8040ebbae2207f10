import { PageHead } from '../../components/page-head.tsx';

export function HealthPage() {
  return <PageHead title="Health" />;
}
