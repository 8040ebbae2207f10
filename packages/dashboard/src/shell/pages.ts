import type { IconName } from '../components/icon.tsx';

/** Page of the rail. */
export interface PageEntry {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  /** Second key after G that goes there. */
  readonly key?: string;
  /** Permission without which it is not shown. */
  readonly permission?: string;
  /** Not in the bar of a small screen, but behind More. */
  readonly isMinor?: boolean;
}

/** Pages about what happens, and below the line about what it is made of. */
export const pageGroups: readonly (readonly PageEntry[])[] = [
  [
    { path: '/now', name: 'Now', icon: 'now', key: 'N' },
    { path: '/sessions', name: 'Sessions', icon: 'sessions', key: 'S' },
    { path: '/approvals', name: 'Approvals', icon: 'approvals', key: 'A' },
    { path: '/tasks', name: 'Tasks', icon: 'tasks', key: 'T' },
    { path: '/triggers', name: 'Triggers', icon: 'triggers', isMinor: true },
  ],
  [
    { path: '/agents', name: 'Agents', icon: 'agents', isMinor: true },
    { path: '/evals', name: 'Evals', icon: 'evals', isMinor: true },
    { path: '/health', name: 'Health', icon: 'health', isMinor: true },
    { path: '/keys', name: 'Keys', icon: 'keys', isMinor: true, permission: 'manage' },
    { path: '/audit', name: 'Audit', icon: 'audit', isMinor: true, permission: 'audit' },
  ],
];
export const allPages: readonly PageEntry[] = pageGroups.flat();
