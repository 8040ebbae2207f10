/** Outlines on a grid of 16. */
const paths = {
  now: 'M2.5 8h2.5l2-5 2.5 10 2-5h2',
  sessions: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  approvals: 'M3 8.5l3.2 3.2L13 4.8',
  tasks: 'M3 3.5h10M3 8h7M3 12.5h4',
  triggers: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3l2 1.5',
  agents: 'M8 2.5v2M3.5 4.5h9v7h-9zM6 8h.01M10 8h.01M6 11.5v2M10 11.5v2',
  evals: 'M6.5 2.5v4L3 12.5c-.4.6 0 1 .6 1h8.8c.6 0 1-.4.6-1L9.5 6.5v-4M5.5 2.5h5M5 9.5h6',
  health: 'M2.5 12.5v-3M6.2 12.5v-6M9.8 12.5V8M13.5 12.5v-9',
  keys: 'M9.5 6.5a3 3 0 1 1-1-1ZM8.2 7.8L3 13v.5h2V12h1.5v-1.5H8',
  audit: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4Z',
  fork: 'M4 2.5v11M4 9c0-3 8-1 8-5M12 4l-2 2M12 4l2 2',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5l3 3',
  theme:
    'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 2v1M8 13v1M2 8h1M13 8h1M3.8 3.8l.7.7' +
    'M11.5 11.5l.7.7M12.2 3.8l-.7.7M4.5 11.5l-.7.7',
  close: 'M4 4l8 8M12 4l-8 8',
  right: 'M6 4l4 4-4 4',
  left: 'M10 4L6 8l4 4',
  first: 'M11 4L7 8l4 4M4.5 4v8',
  play: 'M5 3.5v9l7-4.5Z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  compare: 'M2.5 3.5h4.5v9H2.5zM9 3.5h4.5v9H9z',
  lock: 'M4 7.5h8v6H4zM5.5 7.5V5.5a2.5 2.5 0 0 1 5 0v2',
  retry: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.5v2.5h-2.5',
  help: 'M6 6a2 2 0 1 1 2.8 1.9c-.5.2-.8.6-.8 1.1v.5M8 11.8h.01',
  edit: 'M3 13l.7-2.8L10.5 3.4l2.1 2.1-6.8 6.8Z',
  prompt:
    'M1.8 8C3.5 5 5.6 3.8 8 3.8S12.5 5 14.2 8c-1.7 3-3.8 4.2-6.2 4.2S3.5 11 1.8 8Z' +
    'M8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3l2 1.5',
  export: 'M8 2.5v7.5M4.8 7L8 10.2 11.2 7M2.5 13.5h11',
  picture: 'M2.5 3h11v10h-11zM2.5 11l3.5-3.5 3 3 2-2 2.5 2.5M10.5 5.8h.01',
  leave: 'M6.5 2.5h-4v11h4M6 8h7.5M11 5.5L13.5 8 11 10.5',
} as const;

export type IconName = keyof typeof paths;

/** An icon beside words: it says nothing to screen readers. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  );
}
