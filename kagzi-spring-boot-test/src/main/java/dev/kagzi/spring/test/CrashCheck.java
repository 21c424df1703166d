package dev.kagzi.spring.test;

import dev.kagzi.testkit.KagziEnv;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/** Fails a test that planned a crash which has not happened. */
final class CrashCheck implements TestExecutionListener {
  /** Called by Spring. */
  CrashCheck() {}

  @Override
  public void afterTestMethod(TestContext test) {
    test.getApplicationContext().getBean(KagziEnv.class).checkCrashes();
  }
}
