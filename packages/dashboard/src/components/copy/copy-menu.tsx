import { useId, useRef } from 'react';
import { serverUrl } from '../../api/client.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../button.tsx';
import { type Copied, curlText, jsonText, markdownText } from './copied-text.ts';
import styles from './copy-menu.module.css';
import { useCopying } from './use-copying.ts';

interface CopyMenuProps {
  /** Names the thing for those who do not see where the button stands: "the event". */
  readonly what: string;
  /** Makes what is copied, once the reader has chosen; reads what the page does not have whole. */
  readonly copied: () => Copied | Promise<Copied>;
  /** Shows the icon alone. @default false */
  readonly isSmall?: boolean;
}

const forms = ['Markdown', 'JSON', 'cURL'] as const;
type Form = (typeof forms)[number];
/** Room that the menu takes at most, in pixels. */
const size = { width: 150, height: 128 };
const gap = 4;

/** Copies a thing as Markdown, as JSON, or as the command line that asks the server for it. */
export function CopyMenu({ what, copied, isSmall = false }: CopyMenuProps) {
  const me = useReader();
  const id = useId();
  const place = useRef<HTMLSpanElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const { said, copy } = useCopying();
  const textOf = async (form: Form): Promise<string> => {
    const thing = await copied();
    if (form === 'Markdown') return markdownText(thing);
    if (form === 'JSON') return jsonText(thing.data);
    return curlText(serverUrl, thing.request, me?.isLocal === true);
  };
  const choose = (form: Form): void => {
    menu.current?.hidePopover();
    copy(() => textOf(form));
  };
  return (
    <span ref={place} className={styles['place']}>
      <Button icon={said === 'Copied' ? 'approvals' : 'copy'} label={`Copy ${what}`} menu={id}>
        {isSmall && (said ?? 'Copied') === 'Copied' ? undefined : (said ?? 'Copy')}
      </Button>
      <span className="only-read" aria-live="polite">
        {said}
      </span>
      <div
        ref={menu}
        id={id}
        className={styles['menu']}
        popover="auto"
        role="menu"
        aria-label={`Copy ${what} as`}
        onKeyDown={moveFocus}
        onBeforeToggle={({ newState }) => {
          if (newState === 'open') put(menu.current, place.current);
        }}
        onToggle={({ newState }) => {
          if (newState === 'open') menu.current?.querySelector('button')?.focus();
        }}
      >
        {forms.map((form) => (
          <button
            key={form}
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => choose(form)}
          >
            {form}
          </button>
        ))}
      </div>
    </span>
  );
}

/** Puts the menu below its button, or above where there is no room; never beyond the page. */
function put(menu: HTMLElement | null, place: HTMLElement | null): void {
  if (menu === null || place === null) return;
  const { left, top, bottom } = place.getBoundingClientRect();
  const isAbove = bottom + size.height > innerHeight;
  menu.style.left = `${Math.max(gap, Math.min(left, innerWidth - size.width - gap))}px`;
  menu.style.top = isAbove ? 'auto' : `${bottom + gap}px`;
  menu.style.bottom = isAbove ? `${innerHeight - top + gap}px` : 'auto';
}

/** Arrows, Home and End go to another item, as menus have it; Tab leaves. */
function moveFocus(event: React.KeyboardEvent<HTMLDivElement>): void {
  const items = [...event.currentTarget.querySelectorAll('button')];
  const at = items.indexOf(document.activeElement as HTMLButtonElement);
  const to = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }[event.key];
  if (event.key === 'Tab') event.currentTarget.hidePopover();
  if (to === undefined) return;
  event.preventDefault();
  items[to]?.focus();
}
