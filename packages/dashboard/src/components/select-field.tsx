import styles from './select-field.module.css';

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}

/** One of several, as a list that opens. */
export function SelectField({ label, value, options, onChange }: SelectFieldProps) {
  return (
    <select
      className={styles['select']}
      aria-label={label}
      data-set={value === '' ? undefined : true}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {options.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  );
}
