import type { AuditEntry } from '@adjutant/server/client';
import { Link } from 'wouter';
import { CopyButton } from '../../components/copy/copy-button.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { count, fullTime } from '../../components/format.ts';
import { Status } from '../../components/status.tsx';
import { visible } from '../../components/visible-text.ts';
import styles from './audit-page.module.css';
import { outcomeStatus, pageOf } from './audit-words.ts';

interface AuditDetailProps {
  readonly entry: AuditEntry;
  readonly onClose: () => void;
}

/** All of one entry. */
export function AuditDetail({ entry, onClose }: AuditDetailProps) {
  const { principal, action, target, address, code } = entry;
  const [ring, words] = outcomeStatus(entry.outcome);
  const filter = (name: string, value: string): string =>
    `/audit?${new URLSearchParams({ [name]: value })}`;
  return (
    <Drawer
      label="Entry of the audit log"
      head={
        <div className={styles['title']}>
          <h2>
            <bdi>{visible(action)}</bdi>
          </h2>
          <Status status={ring} isPill>
            {words}
          </Status>
        </div>
      }
      foot={<CopyButton text={() => JSON.stringify(entry, null, 2)}>Copy as JSON</CopyButton>}
      onClose={onClose}
    >
      <dl className={styles['facts']}>
        <Fact name="When">{fullTime(entry.at)}</Fact>
        <Fact name="Caller">
          <span className="mono">{visible(principal)}</span>
          <Link href={filter('principal', principal)}>Only this caller</Link>
        </Fact>
        <Fact name="In ledgers as">
          <span className="mono">{visible(entry.actor)}</span>
        </Fact>
        <Fact name="Call">
          <span className="mono">{visible(entry.route)}</span>
          <Link href={filter('action', action)}>Only this action</Link>
        </Fact>
        {Object.entries(target).map(([kind, name]) => (
          <Target key={kind} kind={kind} name={name} />
        ))}
        <Fact name="Answered with">
          <span className="mono">
            {entry.status} {code === undefined ? '' : visible(code)}
          </span>
        </Fact>
        {entry.count === 1 ? null : (
          <Fact name="How often">{count(entry.count)} equal ones within a minute</Fact>
        )}
        {address === undefined ? null : (
          <Fact name="From">
            <span className="mono">{visible(address)}</span>
          </Fact>
        )}
        <Fact name="Request">
          <span className="mono">{visible(entry.requestId)}</span>
        </Fact>
      </dl>
    </Drawer>
  );
}

function Target({ kind, name }: { readonly kind: string; readonly name: string }) {
  const page = pageOf(kind, name);
  return (
    <Fact name={`${visible(kind.slice(0, 1).toUpperCase())}${visible(kind.slice(1))}`}>
      <span className="mono">{visible(name)}</span>
      {page === undefined ? null : <Link href={page}>Open</Link>}
    </Fact>
  );
}

interface FactProps {
  readonly name: string;
  readonly children: React.ReactNode;
}

function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <bdi>{children}</bdi>
      </dd>
    </div>
  );
}
