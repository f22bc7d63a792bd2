import { AppModule } from './app.module';
import { DemoAccounts } from './demo/demo-accounts';
import { run } from './platform';

run(AppModule, { demo: (app) => app.get(DemoAccounts) });
