import { useState } from 'react';
import { Button } from '../button.tsx';
import { visible } from '../visible-text.ts';
import { jsonOf, numberOf, textOf } from './drafts.ts';
import { HiddenCharacters } from './hidden-characters.tsx';
import styles from './schema-form.module.css';
import { blankOf, type Draft, pathTo, shapeOf, Unfinished } from './shapes.ts';

export interface PartProps {
  readonly schema: unknown;
  readonly value: Draft | undefined;
  /** Value that the form began with: what differs from it is marked. */
  readonly before: unknown;
  /** Place in the whole value, and in the ids of fields. */
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly onChange: (value: Draft | undefined) => void;
}

interface ControlProps extends PartProps {
  readonly id: string;
  /** Name of a field that no label stands beside, such as an item of a list. */
  readonly label?: string;
  /** Shows the members of an object. */
  readonly membersOf: (props: PartProps) => React.ReactNode;
}

/** The field of a value, by its form. */
export function FieldControl(props: ControlProps) {
  const { schema, value } = props;
  const shape = shapeOf(schema, value);
  switch (shape.kind) {
    case 'text':
      return <TextField {...props} />;
    case 'boolean':
      return <Flag {...props} />;
    case 'choice':
      return <Choice {...props} choices={shape.choices} />;
    case 'number':
      return (
        <WrittenField
          {...props}
          mode={shape.isInteger ? 'numeric' : 'decimal'}
          read={(text) => numberOf(text, shape.isInteger)}
        />
      );
    case 'list':
      return <List {...props} items={shape.items} />;
    case 'object':
      return <div className={styles['nested']}>{props.membersOf(props)}</div>;
    default:
      return <WrittenField {...props} mode="json" read={jsonOf} />;
  }
}

/** Characters from which text gets a field of several lines. */
const longText = 60;

function TextField({ id, label, value, isReadOnly, onChange }: ControlProps) {
  const text = typeof value === 'string' ? value : '';
  const shared = {
    id,
    'aria-label': label,
    className: styles['field'],
    value: text,
    readOnly: isReadOnly,
    dir: 'auto',
    'aria-describedby': `${id}-hidden`,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange(event.target.value),
  } as const;
  const lines = text.split('\n').length;
  return (
    <>
      {lines > 1 || text.length > longText ? (
        <textarea {...shared} rows={Math.min(12, Math.max(3, lines + 1))} />
      ) : (
        <input {...shared} type="text" />
      )}
      <HiddenCharacters id={`${id}-hidden`} text={text} />
    </>
  );
}

function Flag({ id, label, value, isReadOnly, onChange }: ControlProps) {
  return (
    <label className={styles['flag']}>
      <input
        id={id}
        type="checkbox"
        aria-label={label}
        checked={value === true}
        disabled={isReadOnly}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>{value === true ? 'true' : 'false'}</span>
    </label>
  );
}

interface ChoiceProps extends ControlProps {
  readonly choices: readonly (string | number | boolean | null)[];
}

function Choice({ id, label, value, choices, isReadOnly, onChange }: ChoiceProps) {
  const chosen = choices.indexOf(value as never);
  return (
    <select
      id={id}
      aria-label={label}
      className={styles['field']}
      value={chosen}
      disabled={isReadOnly}
      onChange={(event) => onChange(choices[Number(event.target.value)])}
    >
      {chosen === -1 ? <option value={-1}>Choose…</option> : null}
      {choices.map((choice, i) => (
        <option key={String(choice)} value={i}>
          {visible(String(choice))}
        </option>
      ))}
    </select>
  );
}

interface WrittenProps extends ControlProps {
  readonly mode: 'numeric' | 'decimal' | 'json';
  readonly read: (text: string) => Draft;
}

/** A field whose text has to be read first: what is no value yet stays as it was written. */
function WrittenField({ id, label, value, mode, isReadOnly, read, onChange }: WrittenProps) {
  const [text, setText] = useState(() => textOf(value));
  // A value that came from elsewhere takes the place of the text.
  const isStale = JSON.stringify(read(text)) !== JSON.stringify(value) && value !== undefined;
  const shown = isStale ? textOf(value) : text;
  const shared = {
    id,
    'aria-label': label,
    className: styles['field'],
    value: shown,
    readOnly: isReadOnly,
    'aria-invalid': value instanceof Unfinished || undefined,
    'aria-describedby': `${id}-hidden`,
    onChange: (event: { readonly target: { readonly value: string } }) => {
      setText(event.target.value);
      onChange(read(event.target.value));
    },
  };
  return (
    <>
      {mode === 'json' ? (
        <textarea
          {...shared}
          className={`${styles['field']} mono`}
          spellCheck={false}
          rows={Math.min(14, Math.max(2, shown.split('\n').length))}
        />
      ) : (
        <input {...shared} type="text" inputMode={mode} />
      )}
      <HiddenCharacters id={`${id}-hidden`} text={shown} />
      {value instanceof Unfinished ? (
        <p className={styles['problem']} role="alert">
          {value.problem}
        </p>
      ) : null}
    </>
  );
}

interface ListProps extends ControlProps {
  readonly items: unknown;
}

function List(props: ListProps) {
  const { value, before, path, id, items, isReadOnly, onChange } = props;
  const list: readonly Draft[] = Array.isArray(value) ? (value as readonly Draft[]) : [];
  const old: readonly unknown[] = Array.isArray(before) ? before : [];
  const unless = isReadOnly ? 'It cannot be changed.' : undefined;
  return (
    <div className={styles['list']}>
      {list.map((item, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item has no other name than its place
        <div key={i} className={styles['item']}>
          <FieldControl
            {...props}
            id={i === 0 ? id : `${id}-${i}`}
            label={pathTo(path, i)}
            schema={items}
            value={item}
            before={old[i]}
            path={pathTo(path, i)}
            onChange={(part) => onChange(list.map((one, j) => (j === i ? (part ?? null) : one)))}
          />
          <Button
            look="bare"
            icon="close"
            label={`Take item ${i + 1} out`}
            unless={unless}
            onPress={() => onChange(list.filter((_, j) => j !== i))}
          />
        </div>
      ))}
      <Button unless={unless} onPress={() => onChange([...list, blankOf(items) ?? null])}>
        Add an item
      </Button>
    </div>
  );
}
