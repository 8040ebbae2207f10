import type { ServerAgent } from '@adjutant/server/client';
import { Link } from 'wouter';
import { pathOf } from '../../address/paths.ts';
import { Panel } from '../../components/panel.tsx';
import { firstLine, visible } from '../../components/visible-text.ts';
import styles from './agents-page.module.css';

type Tool = NonNullable<ServerAgent['tools']>[number];

/** Description of an agent: its kind, its schemas, its tools. */
export function AgentDetail({ agent }: { readonly agent: ServerAgent }) {
  const { name, kind, version, description, parts = [], tools = [] } = agent;
  return (
    <Panel title={firstLine(name, 80)} note={version === undefined ? kind : `${kind} ${version}`}>
      <div className={styles['facts']}>
        {description === undefined ? null : (
          <p className="soft">
            <bdi>{visible(description)}</bdi>
          </p>
        )}
        {parts.length === 0 ? null : (
          <p className={styles['parts']}>
            Runs{' '}
            {parts.map((part) => (
              <Link key={part} href={pathOf('agents', part)}>
                <bdi>{firstLine(part, 80)}</bdi>
              </Link>
            ))}
          </p>
        )}
        <Schema title="Takes" schema={agent.inputSchema} />
        <Schema title="Answers with" schema={agent.outputSchema} />
        {tools.map((tool) => (
          <ToolFacts key={tool.name} tool={tool} />
        ))}
      </div>
    </Panel>
  );
}

interface SchemaProps {
  readonly title: string;
  readonly schema: unknown;
}

function Schema({ title, schema }: SchemaProps) {
  if (schema === undefined) return null;
  return (
    <details className={styles['schema']}>
      <summary>{title}</summary>
      <pre className="mono">{visible(JSON.stringify(schema, null, 2))}</pre>
    </details>
  );
}

function ToolFacts({ tool }: { readonly tool: Tool }) {
  const tags = [
    ...(tool.approval === 'never' ? [] : [`asks ${tool.approval}`]),
    ...(tool.destructive ? ['destructive'] : []),
    ...(tool.readOnly ? ['reads only'] : []),
    ...tool.requiresPermission.map((permission) => `needs ${permission}`),
  ];
  return (
    <details className={styles['schema']}>
      <summary>
        Tool <b className="mono">{visible(tool.name)}</b>
        {tags.map((tag) => (
          <span key={tag} className={styles['tag']}>
            {visible(tag)}
          </span>
        ))}
      </summary>
      <p className="soft">
        <bdi>{visible(tool.description)}</bdi>
      </p>
      <pre className="mono">{visible(JSON.stringify(tool.inputSchema, null, 2))}</pre>
    </details>
  );
}
