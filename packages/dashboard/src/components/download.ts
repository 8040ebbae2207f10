const longestName = 100;

/** Saves what the page has made as a file of the reader. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has taken hold of it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Returns the name of a file for a thing with any name. */
export function fileName(thing: string, ending: string): string {
  const name = thing.replace(/[^\p{L}\p{N}._]+/gu, '-').slice(0, longestName);
  return `${name.replace(/^[.-]+/, '') || 'session'}.${ending}`;
}
