package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** The MDC of workflow and step code. */
class LogIdsTest extends FakeServerTest {
  private static String ids() {
    return MDC.get("step") + " " + MDC.get("attempt");
  }

  @Test
  void a_step_restores_the_application_s_values_of_its_keys() {
    worker(
            (ctx, name) -> {
              String before = ids();
              MDC.put("step", "checkout");
              MDC.put("attempt", "third");
              String inStep = ctx.step("pay", String.class, LogIdsTest::ids);
              return before + ", " + inStep + ", " + ids();
            })
        .start();

    assertThat(start().result(SOON)).isEqualTo("null null, pay 1, checkout third");
  }
}
