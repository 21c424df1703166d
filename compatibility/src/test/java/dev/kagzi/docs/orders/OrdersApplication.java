package dev.kagzi.docs.orders;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.PropertySource;

@SpringBootApplication
@PropertySource("classpath:docs/orders.properties")
class OrdersApplication {}
