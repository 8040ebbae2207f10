import { useSyncExternalStore } from 'react';

const narrow = '(max-width: 719px)';

function subscribe(listener: () => void): () => void {
  const media = matchMedia(narrow);
  media.addEventListener('change', listener);
  return () => media.removeEventListener('change', listener);
}

/** Tells whether the page is as narrow as a phone: rows of lists are higher there. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(narrow).matches);
}
