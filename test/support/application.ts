/** The tested application. `npm run resource -- remove --examples` makes another one, which has the examples besides. */
export { AppModule } from '../../src/app.module';
