import { Icon } from './icon.tsx';
import styles from './search-field.module.css';

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
}

/** A field for a filter: the key `/` leads to it. */
export function SearchField({ label, value, onChange, placeholder = 'Find' }: SearchFieldProps) {
  return (
    <label className={styles['field']}>
      <Icon name="search" />
      <input
        type="search"
        data-filter
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
