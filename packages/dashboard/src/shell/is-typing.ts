/** True while a key belongs to a field, or to a dialog that is open: then it is no act of the page. */
export function isTyping(event: KeyboardEvent): boolean {
  const { target } = event;
  if (document.querySelector('dialog[open], :popover-open') !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  return target.matches('input, textarea, select, [contenteditable]');
}
