import { useParams } from 'wouter';
import { useBrowserLocation, useSearch } from 'wouter/use-browser-location';
import { basePath } from '../api/client.ts';
import { nameOf } from './paths.ts';

/**
 * Location of the browser for the router, which reads escapes of a whole path: a name with `%2F`
 * could then not be told from one with `/`. Escaped once more, the path comes through as it is.
 */
export function useRawLocation(): ReturnType<typeof useBrowserLocation> {
  const [path, navigate] = useBrowserLocation();
  const prefix = path.startsWith(`${basePath}/`) ? basePath : '';
  return [prefix + kept(path.slice(prefix.length)), navigate];
}

/** Query of the browser for the router: its escapes are read once, by the page. */
export function useRawSearch(): string {
  return kept(useSearch());
}

function kept(text: string): string {
  return text.replaceAll('%', '%25');
}

/** Returns the name in the address of the page: `:task` of `/tasks/:task`. */
export function useNamed(parameter: string): string | undefined {
  const part = useParams<Readonly<Record<string, string | undefined>>>()[parameter];
  return part === undefined ? undefined : nameOf(part);
}
