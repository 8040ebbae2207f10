import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { download, fileName } from '../../../components/download.ts';
import { Field, FormDialog } from '../../../components/form-dialog.tsx';
import { useToast } from '../../../components/toasts.tsx';
import { firstLine } from '../../../components/visible-text.ts';
import { exportedWords, fieldsOf } from './export-words.ts';

interface ExportDialogProps {
  readonly session: string;
  readonly onClose: () => void;
}

/** Saves the session as a ledger file, without its secrets and what the reader names. */
export function ExportDialog({ session, onClose }: ExportDialogProps) {
  const show = useToast();
  const [keys, setKeys] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | undefined>();
  const save = async (): Promise<void> => {
    const redact = fieldsOf(keys);
    setBusy(true);
    setProblem(undefined);
    try {
      const text = await api.sessions.export(session, { redact });
      download(fileName(session, 'json'), new Blob([text], { type: 'application/json' }));
      show({ text: exportedWords(text, redact) });
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <FormDialog
      title={`Export the session ${firstLine(session, 80)}`}
      help={
        'All events, up to the newest one, as a file that can be read, kept and replayed. ' +
        'Secrets are taken out.'
      }
      act="Save the file"
      {...{ isBusy, problem, onClose }}
      onSubmit={() => void save()}
    >
      <Field
        label="Also take out what stands under these keys"
        help="With commas between them. A path such as customer.email names one of several."
      >
        <input
          value={keys}
          placeholder="email, customer.name"
          onChange={(event) => setKeys(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}
