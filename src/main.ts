// First, because it changes how all other files are loaded.
import './quick-start';
import { AppModule } from './app.module';
import { DemoAccounts } from './demo/demo-accounts';
import { run } from './platform/programs';

run(AppModule, { demo: (app) => app.get(DemoAccounts) });
