// First, because it changes how all other files are loaded.
import './quick-start';
// Before the modules, because traces change the libraries that those load.
import { run } from './platform/programs';
import { AppModule } from './app.module';
import { DemoAccounts } from './demo/demo-accounts';

run(AppModule, { demo: (app) => app.get(DemoAccounts) });
