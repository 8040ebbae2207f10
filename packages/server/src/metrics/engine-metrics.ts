import type { Runtime } from 'adjutant';
import type { EngineHealth } from 'adjutant/ports';
import { Gauge, type Registry } from 'prom-client';

/** Registers gauges of what keeps the runs of an app moving. */
export function registerEngineMetrics(
  registers: Registry[],
  { recovery }: Pick<Runtime, 'recovery'>,
): void {
  const register = (name: string, help: string, read: (health: EngineHealth) => number) =>
    new Gauge({
      ...{ name, help, labelNames: ['engine'], registers },
      async collect() {
        const health = await recovery.health();
        this.reset();
        this.set({ engine: health.engine }, read(health));
      },
    });
  register(
    'adjutant_engine_up',
    '1 while the engine keeps runs moving, else 0: its server is away, or it was stopped.',
    ({ status }) => (status === 'ok' ? 1 : 0),
  );
  register(
    'adjutant_engine_waiting_wakes',
    'Wakes that the engine has not handed on yet, as while its server is away.',
    ({ waiting = 0 }) => waiting,
  );
}
