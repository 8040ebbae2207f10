import styles from './segmented.module.css';

interface SegmentedProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, React.ReactNode])[];
  readonly onChange: (value: Value) => void;
}

/** One of a few: all are in sight. */
export function Segmented<Value extends string>(props: SegmentedProps<Value>) {
  return (
    <div className={styles['segmented']} role="group" aria-label={props.label}>
      {props.options.map(([value, words]) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === props.value}
          onClick={() => props.onChange(value)}
        >
          {words}
        </button>
      ))}
    </div>
  );
}
