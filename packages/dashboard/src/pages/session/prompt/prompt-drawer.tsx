import type { ServerPrompt } from '@adjutant/server/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { CopyMenu } from '../../../components/copy/copy-menu.tsx';
import { Drawer } from '../../../components/drawer.tsx';
import { count } from '../../../components/format.ts';
import { Icon } from '../../../components/icon.tsx';
import { KindGlyph } from '../../../components/kind-glyph.tsx';
import { Segmented } from '../../../components/segmented.tsx';
import { Failure, Reading } from '../../../components/states.tsx';
import { firstLine, visible } from '../../../components/visible-text.ts';
import type { Columns } from '../../../ledger/columns.ts';
import type { Position } from '../position.ts';
import styles from './prompt-drawer.module.css';
import { colourOf, copiedPrompt, itemWords } from './prompt-words.ts';

type View = 'diff' | 'sections' | 'exact';
type Section = ServerPrompt['sections'][number];
type Change = NonNullable<ServerPrompt['previous']>['diff'][number];

interface PromptDrawerProps {
  readonly session: string;
  /** `seq` of the `model_start`. */
  readonly seq: number;
  readonly columns: Columns;
  readonly position: Position;
  readonly onClose: () => void;
  readonly onFork: () => void;
}

/** The prompt of a model call: exactly what was sent, by section, and what changed since the last. */
export function PromptDrawer(props: PromptDrawerProps) {
  const { session, seq, columns, position, onClose, onFork } = props;
  const { data: prompt, error } = useQuery({
    queryKey: ['prompt', session, seq],
    queryFn: ({ signal }) => api.sessions.prompt(session, seq, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const jump = (step: 1 | -1): void => {
    const found = columns.find(seq, step, (one) => columns.typeAt(one) === 'model_start');
    if (found !== undefined) position.go(found, true);
  };
  return (
    <Drawer
      label="Prompt inspector"
      onClose={onClose}
      head={
        <>
          <h2 className={styles['title']}>
            <KindGlyph kind="model" />
            <bdi className="cut">
              {prompt === undefined
                ? 'Prompt'
                : `Prompt of ${firstLine(prompt.agent, 60)}, round ${prompt.round}`}
            </bdi>
            <span className="faint mono">#{seq}</span>
            <Button look="bare" icon="left" label="Call before ([)" onPress={() => jump(-1)} />
            <Button look="bare" icon="right" label="Call after (])" onPress={() => jump(1)} />
          </h2>
          {prompt === undefined ? null : <Window prompt={prompt} />}
        </>
      }
      foot={
        <>
          <Button look="first" icon="fork" onPress={onFork}>
            Fork and edit this prompt
          </Button>
          {prompt === undefined ? null : (
            <CopyMenu what="the prompt" copied={() => copiedPrompt(session, prompt)} />
          )}
        </>
      }
    >
      {prompt === undefined ? (
        error === null ? (
          <Reading what="the prompt" />
        ) : (
          <Failure error={error} what="The prompt" />
        )
      ) : (
        <PromptBody prompt={prompt} />
      )}
    </Drawer>
  );
}

function PromptBody({ prompt }: { readonly prompt: ServerPrompt }) {
  const [view, setView] = useState<View>('diff');
  const shown = view === 'diff' && prompt.previous === undefined ? 'sections' : view;
  return (
    <>
      <div className={styles['views']}>
        <Segmented
          label="View"
          value={shown}
          onChange={setView}
          options={[
            ...(prompt.previous === undefined
              ? []
              : ([['diff', `Change since #${prompt.previous.seq}`]] as const)),
            ['sections', 'Sections'],
            ['exact', 'Exact text'],
          ]}
        />
      </div>
      {prompt.dropped === undefined ? null : (
        <p className={styles['dropped']}>
          <KindGlyph kind="decision" />
          <span>
            Shortened before this call: events {prompt.dropped.events.map(range).join(', ')} are no
            longer in the prompt.
          </span>
        </p>
      )}
      {shown === 'exact' ? (
        <pre className={styles['exact']}>{visible(JSON.stringify(prompt.call, null, 2))}</pre>
      ) : (
        <Sections prompt={prompt} withDiff={shown === 'diff'} />
      )}
    </>
  );
}

function range([from, to]: readonly [number, number]): string {
  return from === to ? `#${from}` : `#${from} to #${to}`;
}

/** Tokens of the sections as parts of the window. */
function Window({ prompt }: { readonly prompt: ServerPrompt }) {
  const whole = Math.max(prompt.window ?? prompt.tokens, prompt.tokens, 1);
  return (
    <>
      <p className={styles['model']}>
        {firstLine(prompt.model, 60)} · exactly what was sent
        {prompt.reported === undefined ? '' : ` · ${count(prompt.reported)} tokens reported`}
      </p>
      <div
        className={styles['window']}
        role="img"
        aria-label={`${count(prompt.tokens)} of ${count(whole)} tokens`}
      >
        {prompt.sections.map(({ name, title, tokens }) => (
          <i
            key={name}
            title={`${title}: ${count(tokens)}`}
            data-colour={colourOf(name)}
            style={{ width: `${(tokens / whole) * 100}%` }}
          />
        ))}
      </div>
      <p className={styles['fill']}>
        <span>{count(prompt.tokens)} tokens, estimated</span>
        {prompt.window === undefined ? null : (
          <span>
            {Math.round((prompt.tokens / prompt.window) * 100)} % of {count(prompt.window)}
          </span>
        )}
      </p>
    </>
  );
}

function Sections({
  prompt,
  withDiff,
}: {
  readonly prompt: ServerPrompt;
  readonly withDiff: boolean;
}) {
  const changes = new Map((prompt.previous?.diff ?? []).map((change) => [change.section, change]));
  const most = Math.max(1, ...prompt.sections.map(({ tokens }) => tokens));
  const gone = [...changes.values()].filter(({ kind }) => kind === 'gone');
  return (
    <ul>
      {prompt.sections.map((section) => (
        <SectionRow
          key={section.name}
          section={section}
          change={withDiff ? changes.get(section.name) : undefined}
          most={most}
        />
      ))}
      {withDiff
        ? gone.map((change) => (
            <li key={change.section} className={styles['section']}>
              <details>
                <summary>
                  <Icon name="right" />
                  <b>{change.title}</b>
                  <span className={styles['change']} data-kind="gone">
                    gone
                  </span>
                </summary>
                <Items change={change} />
              </details>
            </li>
          ))
        : null}
    </ul>
  );
}

interface SectionRowProps {
  readonly section: Section;
  readonly change: Change | undefined;
  readonly most: number;
}

function SectionRow({ section, change, most }: SectionRowProps) {
  const { name, title, tokens, messages = [], tools = [], settings } = section;
  const isOpen = change === undefined ? name === 'message' : change.kind !== 'same';
  return (
    <li className={styles['section']}>
      <details open={isOpen}>
        <summary>
          <Icon name="right" />
          <b>{title}</b>
          <span className={styles['bar']}>
            <i data-colour={colourOf(name)} style={{ width: `${(tokens / most) * 100}%` }} />
          </span>
          <span className="number">{count(tokens)}</span>
          {change === undefined ? null : (
            <span className={styles['change']} data-kind={change.kind}>
              {changeWords(change)}
            </span>
          )}
        </summary>
        {change !== undefined && change.kind !== 'same' ? (
          <Items change={change} />
        ) : (
          <div className={styles['items']}>
            {[...messages, ...tools, ...(settings === undefined ? [] : [settings])].map(
              (item, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: items of a prompt have a place, no name
                <p key={i}>
                  <bdi>{itemWords(item)}</bdi>
                </p>
              ),
            )}
          </div>
        )}
      </details>
    </li>
  );
}

function changeWords({ kind, tokens }: Change): string {
  const by = tokens.after - tokens.before;
  if (kind === 'same') return 'same';
  return by === 0 ? kind : `${by > 0 ? '+' : '−'}${count(Math.abs(by))}`;
}

/** Items of a section that stayed, went and came. */
function Items({ change }: { readonly change: Change }) {
  const { keep, removed = [], added = [] } = change;
  return (
    <div className={styles['items']}>
      {keep === 0 ? null : <p className="faint">{keep} at the beginning as before</p>}
      {removed.map((item, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items of a prompt have a place, no name
        <p key={`removed ${i}`}>
          <del>
            <bdi>{itemWords(item)}</bdi>
          </del>
        </p>
      ))}
      {added.map((item, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items of a prompt have a place, no name
        <p key={`added ${i}`}>
          <ins>
            <bdi>{itemWords(item)}</bdi>
          </ins>
        </p>
      ))}
    </div>
  );
}
