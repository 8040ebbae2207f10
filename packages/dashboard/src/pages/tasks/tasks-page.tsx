import { useCallback, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useNamed } from '../../address/location.ts';
import { unlessAllowed } from '../../api/me.ts';
import { useReader } from '../../api/reader.ts';
import { Button } from '../../components/button.tsx';
import { count } from '../../components/format.ts';
import { PageHead, Space } from '../../components/page-head.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { type Command, useCommands } from '../../shell/commands.tsx';
import { FailuresPanel } from './failures-panel.tsx';
import { NewTaskDialog } from './new-task-dialog.tsx';
import { QueuePanel } from './queue-panel.tsx';
import { TaskDrawer } from './task-drawer.tsx';
import { levels, type TaskFilters, taskFiltersOf, tasksAddress } from './task-queue.ts';
import styles from './tasks-page.module.css';
import { useOpenTasks, useTaskActs, useTaskChanges } from './use-tasks.ts';

/** The queue by level, and what has failed. */
export function TasksPage() {
  const task = useNamed('task');
  const [, go] = useLocation();
  const search = useSearch();
  const filters = useMemo(() => taskFiltersOf(search), [search]);
  const [isSubmitting, setSubmitting] = useState(false);
  const submit = useCallback(() => setSubmitting(true), []);
  const unless = unlessAllowed(useReader(), 'operate');
  const acts = useTaskActs();
  useTaskChanges();
  useCommands(
    useMemo(
      (): readonly Command[] =>
        unless === undefined ? [{ name: 'New task', icon: 'tasks', run: submit }] : [],
      [unless, submit],
    ),
  );
  const close = (): void => go(tasksAddress(filters));
  return (
    <>
      <PageHead title="Tasks">
        <Figures />
        <Space />
        <Filters filters={filters} task={task} />
        <Button look="first" unless={unless} onPress={submit}>
          New task
        </Button>
      </PageHead>
      <div className={styles['columns']}>
        <QueuePanel filters={filters} acts={acts} unless={unless} />
        <FailuresPanel filters={filters} acts={acts} unless={unless} />
      </div>
      {task === undefined ? null : (
        <TaskDrawer key={task} id={task} acts={acts} unless={unless} onClose={close} />
      )}
      {isSubmitting ? <NewTaskDialog onClose={() => setSubmitting(false)} /> : null}
    </>
  );
}

function Figures() {
  const { data } = useOpenTasks();
  if (data === undefined) return null;
  const active = data.filter(({ state }) => state === 'running').length;
  return (
    <span className="faint number">
      {count(active)} active, {count(data.length - active)} in the queue
    </span>
  );
}

interface FiltersProps {
  readonly filters: TaskFilters;
  readonly task: string | undefined;
}

function Filters({ filters, task }: FiltersProps) {
  const [, go] = useLocation();
  const change = (changed: { readonly [Name in keyof TaskFilters]?: string }): void =>
    go(tasksAddress({ ...filters, ...changed } as TaskFilters, task), { replace: true });
  return (
    <div className={styles['filters']}>
      <SelectField
        label="Level"
        value={filters.level ?? ''}
        options={[
          ['', 'All levels'],
          ...levels.map(({ priority, name }) => [priority, name] as const),
        ]}
        onChange={(level) =>
          level === '' ? go(tasksAddress({ find: filters.find ?? '' }, task)) : change({ level })
        }
      />
      <SearchField
        label="Filter tasks"
        placeholder="Filter"
        value={filters.find ?? ''}
        onChange={(find) => change({ find })}
      />
    </div>
  );
}
