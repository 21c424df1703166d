package dev.kagzi.docs.shop;

import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.put;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.spring.test.KagziTest;
import dev.kagzi.testkit.KagziEnv;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

/** The controller of the documentation, over HTTP. */
@KagziTest
class OrderControllerTest {
  @Autowired Kagzi kagzi;
  @Autowired KagziEnv env;
  @Autowired OrderController controller;

  private MockMvc http;

  @BeforeEach
  void setUp() {
    http = MockMvcBuilders.standaloneSetup(controller).build();
  }

  @Test
  void a_large_order_waits_for_its_approval() throws Exception {
    http.perform(
            put("/orders/order-43")
                .contentType(MediaType.APPLICATION_JSON)
                .content("{\"item\": \"piano\", \"cents\": 2000000}"))
        .andExpect(status().isOk());
    env.settle();
    http.perform(get("/orders/order-43"))
        .andExpect(
            content().json("{\"status\": \"SLEEPING\", \"result\": null, \"error\": null}"));

    http.perform(
            post("/orders/order-43/approval")
                .contentType(MediaType.APPLICATION_JSON)
                .content("{\"by\": \"ann\", \"approved\": true}"))
        .andExpect(status().isOk());
    env.advance(Duration.ofDays(1));

    assertThat(kagzi.run(ProcessOrder.TYPE, "order-43"))
        .completedWith("paid 2000000, shipped piano");
    http.perform(get("/orders/order-43"))
        .andExpect(
            content()
                .json(
                    "{\"status\": \"COMPLETED\", \"result\": \"paid 2000000, shipped piano\"}"));
  }

  @Test
  void a_refused_order_is_not_charged() throws Exception {
    var run =
        kagzi
            .workflow(ProcessOrder.TYPE)
            .id("order-44")
            .start(new ProcessOrder.Order("piano", 2_000_000));

    http.perform(
            post("/orders/order-44/approval")
                .contentType(MediaType.APPLICATION_JSON)
                .content("{\"by\": \"bob\", \"approved\": false}"))
        .andExpect(status().isOk());

    assertThat(run).completedWith("refused by bob");
  }

  @Test
  void an_unknown_order_is_not_found() throws Exception {
    http.perform(get("/orders/order-99")).andExpect(status().isNotFound());
    http.perform(
            post("/orders/order-99/approval")
                .contentType(MediaType.APPLICATION_JSON)
                .content("{\"by\": \"ann\", \"approved\": true}"))
        .andExpect(status().isNotFound());
  }
}
