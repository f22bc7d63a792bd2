import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform';
import { Networks } from './sending/networks';
import { type TargetRules, wrongTarget } from './sending/target';
import { WebhookSettings } from './webhook-settings';

/** Where webhooks may be sent to, by the settings. */
@Injectable()
export class Targets {
  readonly rules: TargetRules;

  constructor(settings: Settings, { WEBHOOK_ALLOWED_NETWORKS, WEBHOOK_PLAIN_HTTP }: WebhookSettings) {
    const networks = new Networks(WEBHOOK_ALLOWED_NETWORKS);
    this.rules = { networks, plain: WEBHOOK_PLAIN_HTTP ?? !settings.production };
  }

  /** What is wrong with a URL; undefined if nothing is. */
  wrong(url: string): string | undefined {
    return wrongTarget(url, this.rules);
  }
}
