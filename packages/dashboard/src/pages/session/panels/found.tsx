/** Words with the text that was looked for marked. */
export function Found({ words, text }: { readonly words: string; readonly text: string }) {
  const wanted = text.trim().toLowerCase();
  const at = wanted === '' ? -1 : words.toLowerCase().indexOf(wanted);
  if (at === -1) return words;
  return (
    <>
      {words.slice(0, at)}
      <mark>{words.slice(at, at + wanted.length)}</mark>
      {words.slice(at + wanted.length)}
    </>
  );
}
