import styles from './button.module.css';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps {
  readonly children?: React.ReactNode;
  readonly icon?: IconName;
  /** Words for a button that shows an icon alone; also its title. */
  readonly label?: string;
  /** `first`: the one act of a region. `bad`: it takes something away. @default 'plain' */
  readonly look?: 'plain' | 'first' | 'bare' | 'bad';
  /** Key that does the same, shown at its end. */
  readonly shortcut?: string;
  readonly isBusy?: boolean;
  /** Reason why it cannot be pressed now: it is disabled, and says so. */
  readonly unless?: string | undefined;
  readonly isPressed?: boolean;
  /** Id of the menu that it opens. */
  readonly menu?: string;
  readonly onPress?: () => void;
  readonly type?: 'button' | 'submit';
}

/** A button. One that cannot be pressed says why. */
export function Button(props: ButtonProps) {
  const { children, icon, label, look = 'plain', shortcut, isBusy = false, unless } = props;
  const isDisabled = unless !== undefined;
  const title = unless ?? (children === undefined ? label : undefined);
  return (
    <button
      type={props.type ?? 'button'}
      className={styles['button']}
      data-look={look}
      data-icon={children === undefined || undefined}
      data-busy={isBusy || undefined}
      aria-busy={isBusy || undefined}
      aria-disabled={isDisabled || undefined}
      aria-pressed={props.isPressed}
      {...(props.menu === undefined ? {} : { 'aria-haspopup': 'menu', popoverTarget: props.menu })}
      {...(label === undefined ? {} : { 'aria-label': label })}
      {...(title === undefined ? {} : { title })}
      onClick={() => {
        if (!isDisabled && !isBusy) props.onPress?.();
      }}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {children}
      {shortcut === undefined ? null : <kbd aria-hidden="true">{shortcut}</kbd>}
    </button>
  );
}
