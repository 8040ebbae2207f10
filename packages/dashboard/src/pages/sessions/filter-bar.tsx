import { useCallback, useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useAgents } from '../../api/agents.ts';
import { Button } from '../../components/button.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { useLate } from '../../components/use-late.ts';
import { addressOf, isEverything, type SessionFilters, statusNames } from './session-filters.ts';
import styles from './sessions-page.module.css';

interface FilterBarProps {
  readonly filters: SessionFilters;
}

/** Fields of the filter: the address has what they say. */
export function FilterBar({ filters }: FilterBarProps) {
  const { user, setUser, text, setText, change, clear } = useFields(filters);
  const agents = useAgents();
  const { agent = '', status = '' } = filters;
  const names = new Set(agents.map(({ name }) => name));
  if (agent !== '') names.add(agent);
  return (
    <div className={styles['filters']} role="search" aria-label="Filter the sessions">
      <SearchField
        label="Find in messages"
        placeholder="Find in messages"
        value={text}
        onChange={setText}
      />
      <SelectField
        label="Status"
        value={status}
        options={[['', 'Any status'], ...statusNames]}
        onChange={(one) => change({ status: one })}
      />
      <SelectField
        label="Agent"
        value={agent}
        options={[['', 'Any agent'], ...[...names].map((name) => [name, name] as const)]}
        onChange={(one) => change({ agent: one })}
      />
      <input
        className={styles['user']}
        aria-label="User"
        placeholder="User"
        value={user}
        onChange={(event) => setUser(event.target.value)}
      />
      {isEverything(filters) ? null : (
        <Button look="bare" icon="close" onPress={clear}>
          Clear
        </Button>
      )}
    </div>
  );
}

/** Text that is typed goes into the address once it rests. */
function useFields(filters: SessionFilters) {
  const [, go] = useLocation();
  const [user, setUser] = useState(filters.user ?? '');
  const [text, setText] = useState(filters.text ?? '');
  const late = useLate(useMemo(() => ({ user, text }), [user, text]));
  const change = useCallback(
    (changed: Partial<Record<keyof SessionFilters, string>>) =>
      go(addressOf({ ...filters, ...changed }), { replace: true }),
    [go, filters],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was typed is taken over
  useEffect(() => {
    const isSame = late.user === (filters.user ?? '') && late.text === (filters.text ?? '');
    if (!isSame) change(late);
  }, [late]);
  const clear = (): void => {
    setUser('');
    setText('');
    go('/sessions', { replace: true });
  };
  return { user, setUser, text, setText, change, clear };
}
