package dev.kagzi.examples.shop;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.spring.test.KagziTest;
import dev.kagzi.testkit.KagziEnv;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.transaction.support.TransactionTemplate;

/** The workflow with the clock of the test kit, on real tables. */
@KagziTest(properties = "kagzi.dev.enabled=false")
class PlaceOrderTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @Autowired Kagzi kagzi;
  @Autowired KagziEnv env;
  @Autowired Shop shop;
  @Autowired JdbcTemplate jdbc;
  @Autowired TransactionTemplate transactions;

  @DynamicPropertySource
  static void database(DynamicPropertyRegistry properties) {
    EmbeddedPostgres postgres = SharedPostgres.server();
    String url = postgres.jdbcUrl(SharedPostgres.createDatabase());
    properties.add("spring.datasource.url", () -> url);
    properties.add("spring.datasource.username", postgres::user);
    properties.add("spring.datasource.password", postgres::password);
  }

  private static Order order(String item, int cents) {
    return new Order(UUID.randomUUID().toString(), item, cents);
  }

  /** Places the order and waits until its start is sent. */
  private RunHandle<String> place(Order order) {
    RunHandle<String> run = kagzi.run(shop.place(order), PlaceOrder.TYPE);
    env.awaitStarted(run);
    return run;
  }

  private int pieces(String item) {
    return jdbc.queryForObject("SELECT pieces FROM stock WHERE item = ?", Integer.class, item);
  }

  @Test
  void an_order_is_charged_once_although_the_worker_crashes() {
    env.crashWorkerAfter("reserve");
    int before = pieces("lamp");
    Order order = order("lamp", 4200);

    RunHandle<String> run = place(order);
    env.advance(PlaceOrder.PACKING.plusSeconds(1));

    assertThat(run).completedWith("SHIPPED");
    assertThat(shop.bookings(order.id())).containsExactly("charge", "reserve");
    assertThat(pieces("lamp")).isEqualTo(before - 1);
  }

  @Test
  void a_piece_is_reserved_once_although_two_workers_execute_the_step() {
    int before = pieces("lamp");
    Order order = order("lamp", 4200);

    RunHandle<String> run =
        transactions.execute(
            status -> {
              jdbc.update("UPDATE stock SET pieces = pieces WHERE item = 'lamp'");
              RunHandle<String> started =
                  kagzi.workflow(PlaceOrder.TYPE).id(order.id()).start(order);
              awaitWaiting(1);
              env.loseWorkers();
              awaitWaiting(2);
              return started;
            });
    env.advance(PlaceOrder.PACKING.plusSeconds(1));

    assertThat(run).completedWith("SHIPPED");
    assertThat(shop.bookings(order.id())).containsExactly("charge", "reserve");
    assertThat(pieces("lamp")).isEqualTo(before - 1);
  }

  /** Waits until this many transactions of the shop wait for a lock. */
  private void awaitWaiting(int transactions) {
    await()
        .atMost(SOON)
        .until(
            () ->
                jdbc.queryForObject(
                    """
                    SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """,
                    Integer.class)
                    == transactions);
  }

  @Test
  void an_order_and_its_run_exist_both_or_none() {
    Order order = order("lamp", 4200);

    String rolledBack =
        transactions.execute(
            status -> {
              status.setRollbackOnly();
              return shop.place(order);
            });
    assertThat(shop.find(order.id())).isEmpty();
    RunHandle<String> placed = place(order);
    String again = shop.place(order);
    env.advance(PlaceOrder.PACKING.plusSeconds(1));

    assertThat(placed).completedWith("SHIPPED");
    assertThat(again).isEqualTo(placed.runId());
    assertThatThrownBy(() -> kagzi.get(rolledBack)).isInstanceOf(RunNotFoundException.class);
  }

  @Test
  void a_large_order_waits_for_its_approval() {
    Order order = order("piano", 2_000_000);
    RunHandle<String> run = place(order);
    env.advance(Duration.ofDays(1));
    assertThat(run).isSleeping();

    run.signal(PlaceOrder.APPROVAL, new Approval("ann", true));
    env.advance(PlaceOrder.PACKING.plusSeconds(1));

    assertThat(run).completedWith("SHIPPED");
    assertThat(shop.find(order.id()).orElseThrow().approvedBy()).isEqualTo("ann");
  }

  @Test
  void a_large_order_that_nobody_approves_releases_its_piece() {
    int before = pieces("piano");
    Order order = order("piano", 2_000_000);

    RunHandle<String> run = place(order);
    env.advance(PlaceOrder.APPROVAL_TIMEOUT.plusSeconds(1));

    assertThat(run).completedWith("NOT_APPROVED");
    assertThat(shop.bookings(order.id())).containsExactly("release", "reserve");
    assertThat(pieces("piano")).isEqualTo(before);
  }

  @Test
  void an_order_that_cannot_be_charged_releases_its_piece() {
    int before = pieces("lamp");
    Order order = order("lamp", 0);

    RunHandle<String> run = place(order);

    assertThat(run).completedWith("NOT_PAID");
    assertThat(shop.bookings(order.id())).containsExactly("release", "reserve");
    assertThat(pieces("lamp")).isEqualTo(before);
  }

  @Test
  void the_report_is_written_each_morning() {
    env.advance(Duration.ofDays(2));

    assertThat(kagzi.schedule(DailyReport.SCHEDULE).runs().stream()).hasSizeBetween(2, 3);
  }
}
