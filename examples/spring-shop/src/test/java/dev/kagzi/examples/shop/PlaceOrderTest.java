package dev.kagzi.examples.shop;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.spring.test.KagziTest;
import dev.kagzi.testkit.KagziEnv;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The workflow with the clock of the test kit, on real tables. */
@KagziTest(properties = "kagzi.dev.enabled=false")
class PlaceOrderTest {
  @Autowired Kagzi kagzi;
  @Autowired KagziEnv env;
  @Autowired Shop shop;
  @Autowired JdbcTemplate jdbc;

  @DynamicPropertySource
  static void database(DynamicPropertyRegistry properties) {
    EmbeddedPostgres postgres = SharedPostgres.server();
    String url = postgres.jdbcUrl(SharedPostgres.createDatabase());
    properties.add("spring.datasource.url", () -> url);
    properties.add("spring.datasource.username", postgres::user);
    properties.add("spring.datasource.password", postgres::password);
  }

  private RunHandle<String> start(String item, int cents) {
    String id = UUID.randomUUID().toString();
    return kagzi.workflow(PlaceOrder.TYPE).id(id).start(new Order(id, item, cents));
  }

  private String idOf(RunHandle<String> run) {
    return run.info().workflowId().orElseThrow();
  }

  private int pieces(String item) {
    return jdbc.queryForObject("SELECT pieces FROM stock WHERE item = ?", Integer.class, item);
  }

  @Test
  void an_order_is_charged_once_although_the_worker_crashes() {
    env.crashWorkerAfter("reserve");
    int before = pieces("lamp");

    RunHandle<String> run = start("lamp", 4200);
    env.advance(PlaceOrder.PACKING.plusSeconds(1));

    assertThat(run).completedWith("SHIPPED");
    assertThat(shop.bookings(idOf(run))).containsExactly("charge", "reserve");
    assertThat(pieces("lamp")).isEqualTo(before - 1);
  }

  @Test
  void a_large_order_waits_for_its_approval() {
    RunHandle<String> run = start("piano", 2_000_000);
    env.advance(Duration.ofMinutes(1));
    assertThat(run).isSleeping();

    assertThat(shop.approve(idOf(run))).isTrue();
    env.advance(Duration.ofMinutes(1));

    assertThat(run).completedWith("SHIPPED");
  }

  @Test
  void an_order_that_cannot_be_charged_releases_its_piece() {
    int before = pieces("lamp");

    RunHandle<String> run = start("lamp", 0);

    assertThat(run).completedWith("NOT_PAID");
    assertThat(shop.bookings(idOf(run))).containsExactly("release", "reserve");
    assertThat(pieces("lamp")).isEqualTo(before);
  }

  @Test
  void the_report_is_written_each_morning() {
    env.advance(Duration.ofDays(2));

    assertThat(kagzi.schedule(DailyReport.SCHEDULE).runs().stream()).hasSizeBetween(2, 3);
  }
}
