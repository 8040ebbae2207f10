import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, refusalOf } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import styles from './sign-in-page.module.css';

/** Changes a key or a token for the cookie of this browser. The key is kept nowhere. */
export function SignInPage() {
  const queries = useQueryClient();
  const [credential, setCredential] = useState('');
  const [problem, setProblem] = useState<string | undefined>();
  const [isBusy, setBusy] = useState(false);
  const signIn = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await api.signIn(credential.trim());
      await queries.invalidateQueries();
    } catch (error) {
      setProblem(wordsOf(error));
    } finally {
      setCredential('');
      setBusy(false);
    }
  };
  return (
    <main className={styles['page']}>
      <form className={styles['form']} onSubmit={(event) => void signIn(event)}>
        <h1>Adjutant</h1>
        <label htmlFor="credential">API key or token</label>
        <input
          id="credential"
          className={styles['field']}
          type="password"
          autoComplete="off"
          required
          aria-describedby="credential-help"
          value={credential}
          onChange={(event) => setCredential(event.target.value)}
        />
        <p id="credential-help" className="faint">
          It is changed for a cookie of this browser, and kept nowhere else. `adjutant keys create`
          makes a key.
        </p>
        {problem === undefined ? null : (
          <p className={styles['problem']} role="alert">
            {problem}
          </p>
        )}
        <Button type="submit" look="first" isBusy={isBusy}>
          Sign in
        </Button>
      </form>
    </main>
  );
}

function wordsOf(error: unknown): string {
  const refusal = refusalOf(error);
  if (refusal?.status === 401) return 'This key is not accepted. Check it, or ask for a new one.';
  if (refusal?.status === 429) return 'Too many attempts. Wait a minute, then try again.';
  return error instanceof Error ? error.message : String(error);
}
