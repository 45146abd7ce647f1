// A workload for Box2D: a heap of boxes and balls falls on the ground, joined by hinges, and is taken away.
#include "box2d/box2d.h"

int main() {
  for (int round = 0; round < 20; ++round) {
    b2World world(b2Vec2(0.0f, -10.0f));
    b2BodyDef ground_definition;
    b2Body* ground = world.CreateBody(&ground_definition);
    b2EdgeShape edge;
    edge.SetTwoSided(b2Vec2(-40.0f, 0.0f), b2Vec2(40.0f, 0.0f));
    ground->CreateFixture(&edge, 0.0f);
    b2Body* last = ground;
    for (int i = 0; i < 60; ++i) {
      b2BodyDef definition;
      definition.type = b2_dynamicBody;
      definition.position.Set(static_cast<float>(i % 7) - 3.0f, 1.0f + static_cast<float>(i));
      b2Body* body = world.CreateBody(&definition);
      if (i % 2 == 0) {
        b2PolygonShape box;
        box.SetAsBox(0.4f, 0.4f);
        body->CreateFixture(&box, 1.0f);
      } else {
        b2CircleShape ball;
        ball.m_radius = 0.4f;
        body->CreateFixture(&ball, 1.0f);
      }
      if (i % 5 == 4) {
        b2RevoluteJointDef hinge;
        hinge.Initialize(last, body, body->GetPosition());
        world.CreateJoint(&hinge);
      }
      last = body;
    }
    for (int step = 0; step < 120; ++step) world.Step(1.0f / 60.0f, 6, 2);
  }
  return 0;
}
