import { Button } from '../button.tsx';
import { visible } from '../visible-text.ts';
import { changesOf } from './changes.ts';
import { withMember } from './drafts.ts';
import { FieldControl, type PartProps } from './field-control.tsx';
import styles from './schema-form.module.css';
import { blankOf, type Draft, isFields, noteOf, pathTo, shapeOf } from './shapes.ts';

/** A form for any JSON value with a schema: fields for what it knows, JSON for the rest. */
export function SchemaForm(props: PartProps) {
  const shape = shapeOf(props.schema, props.value);
  if (shape.kind === 'object' && shape.members.length > 0) return <Members {...props} />;
  return (
    <Row
      {...props}
      name={props.path === '' ? 'Value' : props.path}
      isRequired
      hasName={props.path !== ''}
    />
  );
}

/** The members of an object, each in a row. */
function Members(props: PartProps) {
  const { schema, value, before, path, onChange } = props;
  const shape = shapeOf(schema, value);
  if (shape.kind !== 'object') return null;
  const fields = isFields(value) ? (value as Readonly<Record<string, Draft>>) : {};
  const old = isFields(before) ? before : {};
  return shape.members.map(({ name, schema: member, isRequired }) => (
    <Row
      key={name}
      {...props}
      name={name}
      schema={member}
      value={Object.hasOwn(fields, name) ? fields[name] : undefined}
      before={Object.hasOwn(old, name) ? old[name] : undefined}
      path={pathTo(path, name)}
      isRequired={isRequired}
      onChange={(part) => onChange(withMember(value, name, part))}
    />
  ));
}

interface RowProps extends PartProps {
  readonly name: string;
  readonly isRequired: boolean;
  /** The value itself has no name to show. @default true */
  readonly hasName?: boolean;
}

/** A field with its name, what it takes, and the value that was asked for. */
function Row(props: RowProps) {
  const { name, schema, value, before, path, isRequired, isReadOnly, onChange } = props;
  const isNested = shapeOf(schema, value).kind === 'object' && value !== undefined;
  const isChanged = before !== undefined && changesOf(before, value).length > 0;
  const canLeaveOut = !isRequired && !isReadOnly && value !== undefined;
  return (
    <div
      className={styles['row']}
      data-changed={isChanged || undefined}
      data-nested={isNested || undefined}
    >
      <div className={styles['name']}>
        <label htmlFor={isNested ? undefined : idOf(path)}>
          <bdi>{props.hasName === false ? 'Value' : visible(name)}</bdi>
        </label>
        <small>
          {noteOf(schema)}
          {isRequired ? '' : ' · optional'}
        </small>
        {canLeaveOut ? (
          <button type="button" className={styles['small']} onClick={() => onChange(undefined)}>
            Leave out
          </button>
        ) : null}
      </div>
      <div className={styles['control']}>
        {value === undefined && !isRequired ? (
          <Button
            unless={isReadOnly ? 'It cannot be changed.' : undefined}
            onPress={() => onChange(blankOf(schema) ?? null)}
          >
            Add {visible(name)}
          </Button>
        ) : (
          <FieldControl {...props} id={idOf(path)} membersOf={membersOf} />
        )}
        <Description schema={schema} />
        {isChanged && !isNested ? (
          <Asked before={before} onBack={() => onChange(before as Draft)} />
        ) : null}
      </div>
    </div>
  );
}

function Description({ schema }: { readonly schema: unknown }) {
  const words = isFields(schema) ? schema['description'] : undefined;
  return typeof words === 'string' ? (
    <p className={styles['help']}>
      <bdi>{visible(words)}</bdi>
    </p>
  ) : null;
}

interface AskedProps {
  readonly before: unknown;
  readonly onBack: () => void;
}

/** The value that was asked for, and the way back to it. */
function Asked({ before, onBack }: AskedProps) {
  const text = typeof before === 'string' ? before : JSON.stringify(before);
  return (
    <p className={styles['asked']}>
      <span>asked: </span>
      <del>
        <bdi>{visible(text)}</bdi>
      </del>
      <button type="button" className={styles['small']} onClick={onBack}>
        Put back
      </button>
    </p>
  );
}

/** Members of an object that lies in another value. */
function membersOf(props: PartProps): React.ReactNode {
  return <Members {...props} />;
}

/** Id of the field of a place. */
function idOf(path: string): string {
  return `field-${encodeURIComponent(path)}`;
}
