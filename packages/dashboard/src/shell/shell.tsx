import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useChanges } from '../api/changes.ts';
import { api } from '../api/client.ts';
import { LiveConnection } from '../api/connection.ts';
import { useReader } from '../api/reader.ts';
import { useAnnounce } from '../components/announcer.tsx';
import { Icon } from '../components/icon.tsx';
import { CommandPalette } from './command-palette.tsx';
import { Commands } from './commands.tsx';
import { ConnectionNote } from './connection-note.tsx';
import { isTyping } from './is-typing.ts';
import { KeysDialog } from './keys-dialog.tsx';
import { allPages, type PageEntry, pageGroups } from './pages.ts';
import styles from './shell.module.css';
import { changeTheme } from './theme.ts';

type Open = 'palette' | 'keys' | 'more' | undefined;

/** Frame around each page: the rail, the palette, the keys, the live connection. */
export function Shell({ children }: { readonly children: React.ReactNode }) {
  const [open, setOpen] = useState<Open>();
  const connection = useChanges();
  useShellKeys(setOpen);
  useEffect(() => {
    document.title = 'Adjutant';
  }, []);
  return (
    <Commands>
      <a className={styles['skip']} href="#main">
        To the content
      </a>
      <div className={styles['shell']}>
        <Rail onOpen={setOpen} isMoreOpen={open === 'more'} />
        <main id="main" className={styles['main']} tabIndex={-1}>
          <ConnectionNote {...connection} />
          <LiveConnection.Provider value={connection}>{children}</LiveConnection.Provider>
        </main>
      </div>
      {open === 'palette' ? <CommandPalette onClose={() => setOpen(undefined)} /> : null}
      {open === 'keys' ? <KeysDialog onClose={() => setOpen(undefined)} /> : null}
    </Commands>
  );
}

/** Milliseconds in which the second key of a pair has to come. */
const pairMs = 1_500;

function useShellKeys(setOpen: (open: Open) => void): void {
  const [, go] = useLocation();
  useEffect(() => {
    let goPressedAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setOpen('palette');
        return;
      }
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      const key = event.key.toUpperCase();
      if (event.timeStamp - goPressedAt < pairMs) {
        goPressedAt = Number.NEGATIVE_INFINITY;
        const page = allPages.find((entry) => entry.key === key);
        if (page !== undefined) {
          // The page itself has other acts for the second key.
          event.stopImmediatePropagation();
          go(page.path);
          return;
        }
      }
      if (key === 'G') goPressedAt = event.timeStamp;
      else if (key === '?') setOpen('keys');
      else if (key === '/') {
        const field = document.querySelector<HTMLInputElement>('[data-filter]');
        if (field === null) return;
        event.preventDefault();
        field.focus();
      }
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, [go, setOpen]);
}

/** Waiting requests: shown at most so many. */
const mostShown = 99;

function useWaiting(): number {
  const announce = useAnnounce();
  const { data = 0 } = useQuery({
    queryKey: ['approvals', 'waiting'],
    queryFn: async ({ signal }) =>
      (await api.approvals.list({ status: 'pending', limit: mostShown + 1 }, { signal }).page())
        .requests.length,
  });
  const [before, setBefore] = useState(data);
  useEffect(() => {
    if (data > before) announce('A request waits for an answer.');
    if (data !== before) setBefore(data);
  }, [data, before, announce]);
  return data;
}

interface RailProps {
  readonly isMoreOpen: boolean;
  readonly onOpen: (open: Open) => void;
}

function Rail({ isMoreOpen, onOpen }: RailProps) {
  const [path] = useLocation();
  const waiting = useWaiting();
  const me = useReader();
  const isShown = ({ permission }: PageEntry): boolean =>
    permission === undefined || me?.permissions.includes(permission) === true;
  return (
    <nav className={styles['rail']} aria-label="Pages" data-more={isMoreOpen || undefined}>
      <div className={styles['mark']} aria-hidden="true">
        <Mark />
        <span>Adjutant</span>
      </div>
      {pageGroups.map((group, i) => (
        <div key={group[0]?.path} className={styles['group']} data-minor={i > 0 || undefined}>
          {group.filter(isShown).map((entry) => (
            <RailLink
              key={entry.path}
              entry={entry}
              isCurrent={path === entry.path || path.startsWith(`${entry.path}/`)}
              count={entry.path === '/approvals' ? waiting : 0}
              onPress={() => onOpen(undefined)}
            />
          ))}
        </div>
      ))}
      <span className={styles['space']} />
      <div className={styles['group']} data-minor>
        <RailButton icon="search" name="Search" shortcut="⌘K" onPress={() => onOpen('palette')} />
        <RailButton icon="theme" name="Theme" onPress={changeTheme} />
        <RailButton icon="help" name="Keys" shortcut="?" onPress={() => onOpen('keys')} />
        {me === undefined || me.isLocal ? null : (
          <RailButton icon="leave" name="Sign out" onPress={signOut} />
        )}
      </div>
      <button
        type="button"
        className={styles['moreButton']}
        aria-expanded={isMoreOpen}
        onClick={() => onOpen(isMoreOpen ? undefined : 'more')}
      >
        <Icon name="more" />
        <span>More</span>
      </button>
    </nav>
  );
}

async function signOut(): Promise<void> {
  await api.signOut();
  location.reload();
}

interface RailLinkProps {
  readonly entry: PageEntry;
  readonly isCurrent: boolean;
  readonly count: number;
  readonly onPress: () => void;
}

function RailLink({ entry, isCurrent, count, onPress }: RailLinkProps) {
  const shown = count > mostShown ? `${mostShown}+` : String(count);
  return (
    <Link
      href={entry.path}
      className={styles['entry'] ?? ''}
      data-minor={entry.isMinor || undefined}
      aria-current={isCurrent ? 'page' : undefined}
      title={entry.name}
      onClick={onPress}
    >
      <Icon name={entry.icon} />
      <span className={styles['name']}>{entry.name}</span>
      {count === 0 ? null : (
        <span className={styles['count']}>
          <span aria-hidden="true">{shown}</span>
          <span className="only-read">{shown} open</span>
        </span>
      )}
    </Link>
  );
}

interface RailButtonProps {
  readonly icon: Parameters<typeof Icon>[0]['name'];
  readonly name: string;
  readonly shortcut?: string;
  readonly onPress: () => void;
}

function RailButton({ icon, name, shortcut, onPress }: RailButtonProps) {
  return (
    <button type="button" className={styles['entry']} title={name} onClick={onPress}>
      <Icon name={icon} />
      <span className={styles['name']}>{name}</span>
      {shortcut === undefined ? null : <kbd aria-hidden="true">{shortcut}</kbd>}
    </button>
  );
}

function Mark() {
  return (
    <svg
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M3 4v12M7 4v12M11 4v12" />
      <path d="M11 12.5c0-3.5 6-2.5 6-8.5" />
    </svg>
  );
}
