import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { api, refusalOf } from '../../api/client.ts';
import { factLink } from '../../components/facts.tsx';
import { firstLine } from '../../components/visible-text.ts';

/** The session of a trial: a link where this server has it. */
export function SessionLink({ session }: { readonly session: string }) {
  const { data } = useQuery({
    queryKey: ['evals', 'session', session],
    queryFn: async ({ signal }) => {
      try {
        await api.sessions.get(session, { signal });
        return true;
      } catch (error) {
        if (refusalOf(error) === undefined) throw error;
        return false;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const name = <bdi className="mono">{firstLine(session, 120)}</bdi>;
  if (data !== true)
    return (
      <>
        {name} {data === false ? <span className="faint">not in this server’s store</span> : null}
      </>
    );
  return (
    <Link className={factLink} href={pathOf('sessions', session)}>
      {name}
    </Link>
  );
}
