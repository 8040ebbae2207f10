import type { ServerRequest } from '@adjutant/server/client';
import { useState } from 'react';
import { changesOf } from '../../components/schema-form/changes.ts';
import { ChangesView } from '../../components/schema-form/changes-view.tsx';
import { SchemaForm } from '../../components/schema-form/schema-form.tsx';
import type { Draft, Problem } from '../../components/schema-form/shapes.ts';
import { Segmented } from '../../components/segmented.tsx';
import { visible } from '../../components/visible-text.ts';
import styles from './request-detail.module.css';
import type { editOf } from './request-words.ts';

interface ArgumentsProps {
  readonly request: ServerRequest;
  readonly edit: ReturnType<typeof editOf>;
  /** The arguments as the model gave them; missing when nothing was given. */
  readonly before: unknown;
  readonly value: Draft | undefined;
  readonly problems: readonly Problem[];
  readonly isReadOnly: boolean;
  readonly onChange: (draft: Draft) => void;
}

type View = 'form' | 'json' | 'diff';

/** Arguments that are asked about: as a form, as JSON, or the difference that an edit makes. */
export function Arguments(props: ArgumentsProps) {
  const { request, edit, before, value, problems, isReadOnly, onChange } = props;
  const { name, details } = request;
  const [view, setView] = useState<View>('form');
  const changed = before === undefined ? 0 : changesOf(before, value).length;
  const part = { value, isReadOnly, onChange: (next: Draft | undefined) => onChange(next ?? null) };
  const hasDetails = details !== undefined && edit?.decision !== 'edit';
  return (
    <>
      {hasDetails || (edit === undefined && details !== undefined) ? (
        <section className={styles['form']} aria-label="What is asked about">
          <header>{visible(name)}</header>
          <pre className="mono">{visible(JSON.stringify(details, null, 2))}</pre>
        </section>
      ) : null}
      {edit === undefined || (isReadOnly && before === undefined) ? null : (
        <section className={styles['form']} aria-label="Arguments" data-edit-form>
          <header>
            <span>{edit.decision === 'edit' ? visible(name) : titles[edit.decision]}</span>
            {changed === 0 ? null : (
              <span className={styles['changed']}>
                {changed === 1 ? '1 change' : `${changed} changes`}
              </span>
            )}
            <span className={styles['space']} />
            <Segmented
              label="View"
              value={view}
              options={before === undefined ? writtenViews : allViews}
              onChange={setView}
            />
          </header>
          {view === 'diff' ? <ChangesView before={before} after={value} /> : null}
          {view === 'json' ? <SchemaForm {...part} schema={{}} before={undefined} path="" /> : null}
          {view === 'form' ? (
            <SchemaForm {...part} schema={edit.schema} before={before} path="" />
          ) : null}
          <Problems problems={problems} />
        </section>
      )}
    </>
  );
}

const titles = { answer: 'Answer', continue: 'How much more' };
const writtenViews = [
  ['form', 'Form'],
  ['json', 'JSON'],
] as const;
const allViews = [...writtenViews, ['diff', 'Diff']] as const;

function Problems({ problems }: { readonly problems: readonly Problem[] }) {
  if (problems.length === 0) return null;
  return (
    <ul className={styles['problems']}>
      {problems.map(({ path, text }) => (
        <li key={path}>
          <span className="mono">{path === '' ? 'Value' : visible(path)}</span> {text}
        </li>
      ))}
    </ul>
  );
}
