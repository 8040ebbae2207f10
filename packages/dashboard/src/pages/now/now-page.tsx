import { PageHead } from '../../components/page-head.tsx';

export function NowPage() {
  return <PageHead title="Now" />;
}
