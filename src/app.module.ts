import { Module } from '@nestjs/common';
import { DemoModule } from './demo/demo.module';
import { PlatformModule } from './platform/programs';
import { AuditEventsModule } from './resources/audit-events/audit-events.module';
import { ChangesModule } from './resources/changes/changes.module';
import { CommentsModule } from './resources/comments/comments.module';
import { KeysModule } from './resources/keys/keys.module';
import { OrdersModule } from './resources/orders/orders.module';
import { PostsModule } from './resources/posts/posts.module';
import { ProductsModule } from './resources/products/products.module';
import { PublicModule } from './resources/public/public.module';
import { RepliesModule } from './resources/replies/replies.module';
import { TokensModule } from './resources/tokens/tokens.module';
import { UploadsModule } from './uploads/uploads.module';
import { UsersModule } from './resources/users/users.module';
import { WebhooksModule } from './resources/webhooks/webhooks.module';

// In the order of the document.
const resources = [
  TokensModule,
  UsersModule,
  ProductsModule,
  OrdersModule,
  PostsModule,
  CommentsModule,
  RepliesModule,
  UploadsModule,
  PublicModule,
  KeysModule,
  AuditEventsModule,
  ChangesModule,
  WebhooksModule,
  // One line for each, so that adding one changes one line.
];

@Module({ imports: [PlatformModule, ...resources, DemoModule] })
export class AppModule {}
