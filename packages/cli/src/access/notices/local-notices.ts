import type { ListedNotice } from 'adjutant/notifications';
import { UsageError } from '../../failure.ts';
import type { Host } from '../../host/host.ts';
import { ownCommand } from '../../host/own-name.ts';
import type { AccessOptions } from '../app-access.ts';
import { partOf, withOwnApp } from '../own-app.ts';
import type { NoticeAccess, NoticeFilter, SentNotice } from './notice-access.ts';

/** The notices of an app, in a store of this machine. */
export class LocalNoticeAccess implements NoticeAccess {
  readonly #host: Host;
  readonly #options: AccessOptions;

  constructor(host: Host, options: AccessOptions) {
    this.#host = host;
    this.#options = options;
  }

  list({ limit, user }: NoticeFilter): Promise<readonly ListedNotice[]> {
    return withOwnApp(this.#host, this.#options, 'Notices', async (project) => {
      const service = partOf(project, (app) => app.notifications, {
        lacks: 'sends no notices',
        option:
          "`notifications: notifications({ channels: […] })`, made by 'adjutant/notifications'",
      });
      if (user === undefined)
        throw new UsageError({ reason: 'Say whose notices are meant: --user <id>.' });
      return (await service.list(user, { limit })).notices;
    });
  }

  async follow(): Promise<AsyncIterable<SentNotice>> {
    throw new UsageError({
      reason:
        'Notices are followed on a server, in the process that sends them: name it with ' +
        `--server. ${ownCommand('notices list --user <id>')} shows those of a store.`,
    });
  }
}
