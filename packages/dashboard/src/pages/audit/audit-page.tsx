import { useCallback, useMemo, useState } from 'react';
import { useSearch } from 'wouter';
import { unlessAllowed } from '../../api/me.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy/copy-button.tsx';
import { count } from '../../components/format.ts';
import { PageHead, Space } from '../../components/page-head.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { useNarrow } from '../../components/use-narrow.ts';
import { useNow } from '../../components/use-now.ts';
import { VirtualRows } from '../../components/virtual-rows.tsx';
import { AuditDetail } from './audit-detail.tsx';
import { AuditFilterBar } from './audit-filter-bar.tsx';
import { type AuditFilters, fieldsOf, filtersOf } from './audit-filters.ts';
import styles from './audit-page.module.css';
import { AuditRow } from './audit-row.tsx';
import { type NamedEntry, useAudit } from './use-audit.ts';

/** The audit log: who did what, from where, and what was denied. */
export function AuditPage() {
  const search = useSearch();
  const fields = useMemo(() => fieldsOf(search), [search]);
  const filters = useMemo(() => filtersOf(fields), [fields]);
  const unless = unlessAllowed(useReader(), 'audit');
  if (unless !== undefined)
    return (
      <>
        <PageHead title="Audit" />
        <PlaceHolder title="The audit log is for auditors." role="alert">
          <p>{unless}</p>
        </PlaceHolder>
      </>
    );
  return <AuditLog {...{ fields, filters }} />;
}

interface AuditLogProps {
  readonly fields: ReturnType<typeof fieldsOf>;
  readonly filters: AuditFilters;
}

function AuditLog({ fields, filters }: AuditLogProps) {
  const audit = useAudit(filters);
  const { entries, error, refetch, hasNextPage, isFetchingNextPage, readMore } = audit;
  const [open, setOpen] = useState<NamedEntry | undefined>();
  const close = useCallback(() => setOpen(undefined), []);
  return (
    <>
      <PageHead title="Audit">
        {entries === undefined ? null : (
          <span className="faint number">
            {count(entries.length)}
            {hasNextPage ? '+' : ''}
          </span>
        )}
        <Space />
        <Button icon="retry" isBusy={audit.isRefetching} onPress={() => void refetch()}>
          Read again
        </Button>
        <CopyButton text={() => JSON.stringify(entries?.map(({ entry }) => entry) ?? [], null, 2)}>
          Copy as JSON
        </CopyButton>
      </PageHead>
      <AuditFilterBar fields={fields} />
      {entries === undefined ? (
        error === null ? (
          <Reading what="the audit log" rows={10} />
        ) : (
          <Failure error={error} what="The audit log" onRetry={() => void refetch()} />
        )
      ) : entries.length === 0 && !hasNextPage ? (
        <PlaceHolder title="No entry matches.">
          <p>Calls that only read are entries when they were denied.</p>
        </PlaceHolder>
      ) : (
        <Rows entries={entries} open={open} onOpen={setOpen} onEnd={readMore} />
      )}
      {hasNextPage && !isFetchingNextPage ? (
        <div className={styles['more']}>
          <Button onPress={readMore}>Older entries</Button>
        </div>
      ) : null}
      {isFetchingNextPage ? <Reading what="older entries" rows={3} /> : null}
      {open === undefined ? null : <AuditDetail entry={open.entry} onClose={close} />}
    </>
  );
}

const rowHeight = 36;
const narrowHeight = 60;

interface RowsProps {
  readonly entries: readonly NamedEntry[];
  readonly open: NamedEntry | undefined;
  readonly onOpen: (entry: NamedEntry) => void;
  readonly onEnd: () => void;
}

function Rows({ entries, open, onOpen, onEnd }: RowsProps) {
  const now = useNow(30_000);
  const height = useNarrow() ? narrowHeight : rowHeight;
  const heightOf = useCallback(() => height, [height]);
  return (
    <div className={styles['rows']}>
      <VirtualRows
        label="Entries of the audit log"
        items={entries}
        keyOf={nameOf}
        heightOf={heightOf}
        onEnd={onEnd}
      >
        {(item, { isCurrent }) => (
          <AuditRow
            entry={item.entry}
            {...{ now, isCurrent }}
            isOpen={item.name === open?.name}
            onOpen={() => onOpen(item)}
          />
        )}
      </VirtualRows>
    </div>
  );
}

function nameOf({ name }: NamedEntry): string {
  return name;
}
