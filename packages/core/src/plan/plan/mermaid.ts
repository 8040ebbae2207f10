import { checkOptions } from '../../base/invalid-option.ts';
import { isOneOf, type OptionChecks } from '../../base/options.ts';
import type { Subtask } from '../../ledger/event.ts';
import { labelText } from '../../views/mermaid.ts';
import { criticalPath } from './critical-path.ts';
import type { PlanView, SubtaskStatus } from './view.ts';

export interface PlanMermaidOptions {
  /** From top to bottom, or from left to right. @default 'TB' */
  readonly direction?: 'TB' | 'LR';
}

const optionChecks: OptionChecks<PlanMermaidOptions> = { direction: isOneOf('TB', 'LR') };

/** Colours of subtasks by status; marks say the same without colours. */
const styles: readonly string[] = [
  'classDef idle fill:#ffffff,stroke:#6b7280,color:#1f2937',
  'classDef completed fill:#dcfce7,stroke:#15803d,color:#14532d',
  'classDef failed fill:#fee2e2,stroke:#b91c1c,color:#7f1d1d',
  'classDef cancelled fill:#e5e7eb,stroke:#6b7280,color:#1f2937',
  'classDef waiting fill:#fef3c7,stroke:#d97706,color:#713f12',
  'classDef executing fill:#fef9c3,stroke:#a16207,color:#713f12',
];

const looks: Readonly<Record<SubtaskStatus, readonly [style: string, mark: string]>> = {
  pending: ['idle', '○ '],
  blocked: ['idle', '○ '],
  executing: ['executing', '… '],
  waiting: ['waiting', '◐ '],
  completed: ['completed', '✓ '],
  failed: ['failed', '✗ '],
  cancelled: ['cancelled', '■ '],
};

/** Longest part of a description that a diagram has. */
const longestLabel = 80;

type Drawn = Subtask & { readonly status?: SubtaskStatus; readonly attempts?: number };

/**
 * Draws a plan as a Mermaid flowchart: subtasks before they are carried out, or a view of a run.
 * The critical path has thick lines.
 * @throws InvalidOptionError
 */
export function planMermaid(
  source: PlanView | readonly Subtask[],
  options: PlanMermaidOptions = {},
): string {
  checkOptions('planMermaid', options, optionChecks);
  const subtasks: readonly Drawn[] = 'subtasks' in source ? source.subtasks : source;
  const critical =
    'subtasks' in source
      ? source.criticalPath
      : criticalPath(subtasks.map(({ id, dependsOn = [] }) => ({ id, dependsOn })));
  const ids = new Map(subtasks.map(({ id }, i) => [id, `n${i + 1}`]));
  const isCritical = (from: string, to: string): boolean => {
    const place = critical.indexOf(to);
    return place > 0 && critical[place - 1] === from;
  };
  return [
    `flowchart ${options.direction ?? 'TB'}`,
    ...subtasks.map((subtask) => nodeLine(subtask, ids.get(subtask.id) ?? '')),
    ...subtasks.flatMap(({ id, dependsOn = [] }) =>
      dependsOn.flatMap((before) => {
        const from = ids.get(before);
        const line = isCritical(before, id) ? '==>' : '-->';
        return from === undefined ? [] : `${from} ${line} ${ids.get(id)}`;
      }),
    ),
    ...styles,
  ]
    .map((line, i) => (i === 0 ? line : `  ${line}`))
    .join('\n');
}

function nodeLine({ id, description, worker, tool, status, attempts = 0 }: Drawn, node: string) {
  const [style, mark] = looks[status ?? 'pending'];
  const text = description.length > longestLabel ? `${description.slice(0, 79)}…` : description;
  const doer = worker ?? tool;
  const label = [
    labelText(`${status === undefined ? '' : mark}${id}`),
    labelText(text),
    ...(doer === undefined ? [] : [labelText(doer)]),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
  ].join('<br/>');
  return `${node}["${label}"]:::${style}`;
}
