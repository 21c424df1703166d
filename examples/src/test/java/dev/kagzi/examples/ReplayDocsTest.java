package dev.kagzi.examples;

import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(KagziExtension.class)
class ReplayDocsTest {
  private static final WorkflowType<OrderExample.Order, String> PROCESS_ORDER =
      OrderExample.PROCESS_ORDER;
  private static final WorkflowType<SagaExample.Trip, String> BOOK_TRIP = SagaExample.BOOK_TRIP;

  private static final class Orders {
    static String process(WorkflowContext ctx, OrderExample.Order order) {
      return OrderExample.processOrder(ctx, order);
    }
  }

  private static final class Trips {
    static String book(WorkflowContext ctx, SagaExample.Trip trip) {
      return new SagaExample().bookTrip(ctx, trip);
    }
  }

  // docs: testing.md
  @Test
  void open_runs_survive_the_next_deploy(KagziEnv env) {
    env.worker("orders").workflow(PROCESS_ORDER, Orders::process).start();
    env.worker("trips").workflow(BOOK_TRIP, Trips::book).start();

    env.replayAll(Path.of("src/test/resources/histories"));
  }
  // end
}
