import { useSyncExternalStore } from 'react';
import { type CreatureMap, readCreatureMap } from './creature-map.ts';

const place = 'adjutant.creatures';
const listeners = new Set<() => void>();
let current: CreatureMap = readCreatureMap(readText());

/** Returns the reader's choices of creatures, which this browser keeps. */
export function useChosenCreatures(): CreatureMap {
  return useSyncExternalStore(subscribe, () => current);
}

/** Keeps the reader's choices. Where the browser stores nothing they last as long as the page. */
export function chooseCreatures(map: CreatureMap): void {
  current = map;
  try {
    if (Object.keys(map).length === 0) localStorage.removeItem(place);
    else localStorage.setItem(place, JSON.stringify(map));
  } catch {
    // The browser refuses to store: the page still has them.
  }
  for (const listener of listeners) listener();
}

function readText(): string | null {
  try {
    return localStorage.getItem(place);
  } catch {
    return null;
  }
}

function subscribe(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent): void => {
    if (key !== place) return;
    current = readCreatureMap(readText());
    listener();
  };
  listeners.add(listener);
  addEventListener('storage', onStorage);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', onStorage);
  };
}
