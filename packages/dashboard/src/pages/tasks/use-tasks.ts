import type { ServerTask, ServerTaskPriority } from '@adjutant/server/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { api } from '../../api/client.ts';
import { useAct } from '../../components/use-act.ts';
import { levelName } from './task-queue.ts';

const mostListed = 1_000;
const collectMs = 500;
const pauseMs = 3_000;

/** Tasks that have not ended, in the order of the queue. */
export function useOpenTasks() {
  return useQuery({
    queryKey: ['tasks', 'open'],
    queryFn: ({ signal }) => api.tasks.list({ limit: mostListed }, { signal }),
  });
}

/** Tasks that have failed, the last one first. */
export function useFailures() {
  return useQuery({
    queryKey: ['tasks', 'failed'],
    queryFn: ({ signal }) =>
      api.tasks.list({ state: ['failed', 'timeout'], limit: 100 }, { signal }),
  });
}

export function useTask(task: string) {
  return useQuery({
    queryKey: ['tasks', 'one', task],
    queryFn: ({ signal }) => api.tasks.get(task, { signal }),
  });
}

/** Milliseconds after which the place of a task is asked for again. */
const placeMs = 10_000;

/** Explains why a task does not run. Its place changes with all others: it is asked for seldom. */
export function useWhy({ id, state, priority }: ServerTask, isWanted: boolean) {
  return useQuery({
    queryKey: ['task-why', id, state, priority],
    queryFn: ({ signal }) => api.tasks.explain(id, { signal }),
    enabled: isWanted,
    staleTime: placeMs,
    refetchInterval: placeMs,
  });
}

/** Reads the lists again whenever a task changes, wherever it is worked on. */
export function useTaskChanges(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = async (): Promise<void> => {
      while (!signal.aborted) {
        try {
          for await (const _ of api.tasks.follow({ signal }))
            timer ??= setTimeout(() => {
              timer = undefined;
              void queries.invalidateQueries({ queryKey: ['tasks'] });
            }, collectMs);
        } catch {
          if (signal.aborted) return;
        }
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    };
    void follow();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [queries]);
}

export interface TaskActs {
  readonly isBusy: boolean;
  readonly suspend: (task: ServerTask) => void;
  readonly resume: (task: ServerTask) => void;
  readonly toFront: (task: ServerTask) => void;
  readonly reprioritize: (task: ServerTask, priority: ServerTaskPriority) => void;
  readonly retry: (tasks: readonly ServerTask[]) => void;
  readonly cancel: (task: ServerTask) => Promise<boolean>;
  readonly discard: (task: ServerTask) => Promise<boolean>;
}

const changes = [['tasks'], ['task-why'], ['sessions']];

/** Acts on tasks. Those with an opposite can be taken back for ten seconds. */
export function useTaskActs(): TaskActs {
  const { act, isBusy } = useAct();
  return useMemo(
    () => ({
      isBusy,
      suspend: ({ id, name }) =>
        void act({
          run: () => api.tasks.suspend(id),
          done: `“${name}” is held.`,
          undo: () => api.tasks.resume(id),
          changes,
        }),
      resume: ({ id }) => void act({ run: () => api.tasks.resume(id), changes }),
      toFront: ({ id }) => void act({ run: () => api.tasks.moveToFront(id), changes }),
      reprioritize: ({ id, name, priority: before }, priority) =>
        void act({
          run: () => api.tasks.reprioritize(id, priority),
          done: `“${name}” is ${levelName(priority)} now.`,
          undo: () => api.tasks.reprioritize(id, before),
          changes,
        }),
      retry: (tasks) =>
        void act({
          run: async () => {
            for (const { id } of tasks) await api.tasks.retry(id);
          },
          changes,
        }),
      cancel: ({ id }) => act({ run: () => api.tasks.cancel(id), changes }),
      discard: ({ id }) => act({ run: () => api.tasks.discard(id), changes }),
    }),
    [act, isBusy],
  );
}
