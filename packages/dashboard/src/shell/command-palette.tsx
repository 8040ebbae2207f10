import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { pathOf } from '../address/paths.ts';
import { api } from '../api/client.ts';
import { useReader } from '../api/reader.ts';
import { Icon } from '../components/icon.tsx';
import { firstLine } from '../components/visible-text.ts';
import styles from './command-palette.module.css';
import { type Command, useOfferedCommands } from './commands.tsx';
import { allPages } from './pages.ts';

interface Group {
  readonly title: string;
  readonly commands: readonly Command[];
}

const mostSessions = 8;

/** Palette of commands: acts of this page, then pages, then sessions. */
export function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const groups = useGroups(text);
  const all = useMemo(() => groups.flatMap(({ commands }) => commands), [groups]);
  const [chosen, setChosen] = useState(0);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const place = Math.min(chosen, all.length - 1);
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    dialog.current?.close();
    command.run();
  };
  const onKey = (event: React.KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (step === undefined) run(all[place]);
    else setChosen((place + step + all.length) % Math.max(1, all.length));
  };
  return (
    <dialog
      ref={dialog}
      className={styles['palette']}
      aria-label="Search and commands"
      onClose={onClose}
    >
      <PaletteField
        text={text}
        chosen={all.length === 0 ? undefined : `palette-${place}`}
        onText={(next) => {
          setText(next);
          setChosen(0);
        }}
        onKey={onKey}
      />
      <div id="palette-results" className={styles['results']} role="listbox" aria-label="Results">
        {groups.map(({ title, commands }) => (
          <div key={title} role="group" aria-label={title}>
            <p className={styles['title']} aria-hidden="true">
              {title}
            </p>
            {commands.map((command) => (
              <Option
                key={`${command.name} ${command.detail ?? ''}`}
                command={command}
                index={all.indexOf(command)}
                isChosen={all[place] === command}
                onPress={() => run(command)}
              />
            ))}
          </div>
        ))}
        {all.length === 0 ? <p className={styles['title']}>Nothing has this name.</p> : null}
      </div>
    </dialog>
  );
}

interface PaletteFieldProps {
  readonly text: string;
  /** Id of the option that Enter takes. */
  readonly chosen: string | undefined;
  readonly onText: (text: string) => void;
  readonly onKey: (event: React.KeyboardEvent) => void;
}

function PaletteField({ text, chosen, onText, onKey }: PaletteFieldProps) {
  return (
    <input
      type="text"
      role="combobox"
      aria-label="Search and commands"
      aria-expanded="true"
      aria-controls="palette-results"
      aria-activedescendant={chosen}
      placeholder="Go to, do, or find a session…"
      value={text}
      onChange={(event) => onText(event.target.value)}
      onKeyDown={onKey}
    />
  );
}

interface OptionProps {
  readonly command: Command;
  readonly index: number;
  readonly isChosen: boolean;
  readonly onPress: () => void;
}

function Option({ command, index, isChosen, onPress }: OptionProps) {
  return (
    <div
      id={`palette-${index}`}
      className={styles['option']}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      onClick={onPress}
    >
      <Icon name={command.icon} />
      <b className="cut">
        <bdi>{command.name}</bdi>
      </b>
      <span className="faint cut">{command.detail}</span>
      <span className={styles['keys']} aria-hidden="true">
        {command.keys?.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </span>
    </div>
  );
}

function useGroups(text: string): readonly Group[] {
  const [, go] = useLocation();
  const me = useReader();
  const here = useOfferedCommands();
  const { data: sessions = [] } = useQuery({
    queryKey: ['sessions', 'palette'],
    queryFn: async ({ signal }) =>
      (await api.sessions.list({ limit: 100 }, { signal }).page()).sessions,
  });
  return useMemo(() => {
    const wanted = text.trim().toLowerCase();
    const fits = ({ name, detail = '' }: Command): boolean =>
      `${name} ${detail}`.toLowerCase().includes(wanted);
    const pages = allPages
      .filter(({ permission }) => permission === undefined || me?.permissions.includes(permission))
      .map(
        (page): Command => ({
          name: page.name,
          icon: page.icon,
          ...(page.key === undefined ? {} : { keys: ['G', page.key] }),
          run: () => go(page.path),
        }),
      );
    const found = sessions.map(
      ({ id, title }): Command => ({
        name: firstLine(title ?? id, 80),
        detail: firstLine(id, 60),
        icon: 'sessions',
        run: () => go(pathOf('sessions', id)),
      }),
    );
    return [
      { title: 'Here', commands: here.filter(fits) },
      { title: 'Go to', commands: pages.filter(fits) },
      { title: 'Sessions', commands: found.filter(fits).slice(0, mostSessions) },
    ].filter(({ commands }) => commands.length > 0);
  }, [text, here, sessions, me, go]);
}
