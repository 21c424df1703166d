package dev.kagzi.spring.test;

import dev.kagzi.spring.KagziAutoConfiguration;
import dev.kagzi.spring.KagziTransactionsAutoConfiguration;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.TestExecutionListeners;

/**
 * A test with an application context whose client and workers use a server of the test kit. Inject
 * its {@link dev.kagzi.testkit.KagziEnv} to move the clock.
 *
 * <pre>{@code
 * @KagziTest
 * class OrderTest {
 *   @Autowired KagziEnv env;
 *   @Autowired Kagzi kagzi;
 *
 *   @Test
 *   void an_order_is_shipped_after_a_day() {
 *     RunHandle<Receipt> run = kagzi.workflow(PROCESS_ORDER).start(order);
 *
 *     env.advance(Duration.ofDays(1));
 *
 *     assertThat(run).completedWith(receipt);
 *   }
 * }
 * }</pre>
 *
 * <p>Without {@link #classes} the whole application starts, as with {@link SpringBootTest}. With
 * them, only these beans and Kagzi's do. Tests that share a context share its environment: its
 * runs, and a clock that only moves forward.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@SpringBootTest
@Import(KagziTestConfiguration.class)
@ImportAutoConfiguration({KagziAutoConfiguration.class, KagziTransactionsAutoConfiguration.class})
@TestExecutionListeners(
    listeners = CrashCheck.class,
    mergeMode = TestExecutionListeners.MergeMode.MERGE_WITH_DEFAULTS)
public @interface KagziTest {
  /** The components and configurations of the context; the whole application by default. */
  @AliasFor(annotation = SpringBootTest.class, attribute = "classes")
  Class<?>[] classes() default {};

  /** Properties of the context, such as {@code kagzi.worker.max-concurrent=1}. */
  @AliasFor(annotation = SpringBootTest.class, attribute = "properties")
  String[] properties() default {};

  /** Whether the application's web server starts, and on which port. */
  @AliasFor(annotation = SpringBootTest.class, attribute = "webEnvironment")
  WebEnvironment webEnvironment() default WebEnvironment.MOCK;
}
