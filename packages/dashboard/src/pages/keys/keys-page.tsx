import type { IssuedServerKey, ServerKey } from '@adjutant/server/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { api } from '../../api/client.ts';
import { unlessAllowed, useHeldPage } from '../../api/me.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { plural } from '../../components/format.ts';
import { PageHead, Space } from '../../components/page-head.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { Failure, PlaceHolder, Reading } from '../../components/states.tsx';
import { useNow } from '../../components/use-now.ts';
import { type Command, useCommands } from '../../shell/commands.tsx';
import { RevokeDialog, RotateDialog, SecretDialog } from './key-dialogs.tsx';
import { KeyRow } from './key-row.tsx';
import { isAccepted } from './key-words.ts';
import styles from './keys-page.module.css';
import { NewKeyDialog } from './new-key-dialog.tsx';

type Open =
  | { readonly dialog: 'new' }
  | { readonly dialog: 'rotate' | 'revoke'; readonly item: ServerKey }
  | { readonly dialog: 'secret'; readonly issued: IssuedServerKey };

/** API keys of the tenant: who may do what, and until when. */
export function KeysPage() {
  const me = useReader();
  const unless = unlessAllowed(me, 'manage');
  const [open, setOpen] = useState<Open | undefined>();
  const start = useCallback(() => setOpen({ dialog: 'new' }), []);
  useCommands(
    useMemo(
      (): readonly Command[] =>
        unless === undefined ? [{ name: 'New key', icon: 'keys', run: start }] : [],
      [unless, start],
    ),
  );
  return (
    <>
      <PageHead title="Keys">
        <Space />
        <Button look="first" icon="keys" unless={unless} onPress={start}>
          New key
        </Button>
      </PageHead>
      {me?.isLocal === true ? (
        <p className={styles['note']}>
          This server lets its own machine in without a key. Keys count once it is started with{' '}
          <code className="mono">auth</code>.
        </p>
      ) : null}
      {unless === undefined ? (
        <KeyList unless={unless} onOpen={setOpen} />
      ) : (
        <PlaceHolder title="Keys are for administrators." role="alert">
          <p>{unless}</p>
        </PlaceHolder>
      )}
      <Dialogs open={open} onOpen={setOpen} ownId={ownKeyOf(me?.id)} />
    </>
  );
}

/** The id of the key that the reader came with. */
function ownKeyOf(principal: string | undefined): string | undefined {
  return principal?.startsWith('key:') === true ? principal.slice('key:'.length) : undefined;
}

interface DialogsProps {
  readonly open: Open | undefined;
  readonly ownId: string | undefined;
  readonly onOpen: (open: Open | undefined) => void;
}

function Dialogs({ open, ownId, onOpen }: DialogsProps) {
  const queries = useQueryClient();
  // The key of the reader may end before its new secret is stored.
  useHeldPage(open !== undefined && open.dialog !== 'revoke');
  const close = (): void => onOpen(undefined);
  const closeSecret = (): void => {
    close();
    void queries.invalidateQueries({ queryKey: ['me'] });
  };
  const showSecret = (issued: IssuedServerKey): void => onOpen({ dialog: 'secret', issued });
  switch (open?.dialog) {
    case 'new':
      return <NewKeyDialog onMade={showSecret} onClose={close} />;
    case 'secret':
      return <SecretDialog issued={open.issued} onClose={closeSecret} />;
    case 'rotate':
      return (
        <RotateDialog
          item={open.item}
          isOwn={open.item.id === ownId}
          onRotated={showSecret}
          onClose={close}
        />
      );
    case 'revoke':
      return <RevokeDialog item={open.item} isOwn={open.item.id === ownId} onClose={close} />;
    default:
      return null;
  }
}

interface KeyListProps {
  readonly unless: string | undefined;
  readonly onOpen: (open: Open) => void;
}

function KeyList({ unless, onOpen }: KeyListProps) {
  const me = useReader();
  const now = useNow(10_000);
  const [shown, setShown] = useState<'accepted' | 'all'>('accepted');
  const { data, error, refetch } = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => api.keys.list({ signal }),
  });
  if (data === undefined)
    return error === null ? (
      <Reading what="keys" />
    ) : (
      <Failure error={error} what="The keys" onRetry={() => void refetch()} />
    );
  const accepted = data.filter((key) => isAccepted(key, now));
  const keys = shown === 'all' ? data : accepted;
  return (
    <>
      <div className={styles['bar']}>
        <Segmented
          label="Keys that are shown"
          value={shown}
          options={[
            ['accepted', `Accepted ${accepted.length}`],
            ['all', `All ${data.length}`],
          ]}
          onChange={setShown}
        />
      </div>
      {keys.length === 0 ? (
        <PlaceHolder title={data.length === 0 ? 'No keys yet.' : 'No key is accepted.'}>
          <p>Make one for each program and each person, with no more rights than it needs.</p>
        </PlaceHolder>
      ) : (
        <ul className={styles['rows']} aria-label={plural(keys.length, 'key')}>
          {keys.map((item) => (
            <KeyRow
              key={item.id}
              {...{ item, now, unless }}
              isOwn={item.id === ownKeyOf(me?.id)}
              onRotate={() => onOpen({ dialog: 'rotate', item })}
              onRevoke={() => onOpen({ dialog: 'revoke', item })}
            />
          ))}
        </ul>
      )}
    </>
  );
}
