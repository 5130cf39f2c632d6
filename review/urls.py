from django.urls import path

from review import views

app_name = "review"
urlpatterns = [
    path("reviews/", views.review_list, name="review_list"),
    path("reviews/next/", views.review_next, name="review_next"),
    path("cases/<int:pk>/begin/", views.case_begin, name="case_begin"),
    path("cases/<int:pk>/review/", views.case_review, name="case_review"),
    path("cases/<int:pk>/review/draft/", views.case_save, name="case_save"),
    path("cases/<int:pk>/give-back/", views.case_give_back, name="case_give_back"),
    path("cases/<int:pk>/send-again/", views.case_send_again, name="case_send_again"),
    path("cases/<int:pk>/assign/", views.case_assign, name="case_assign"),
    path("cases/<int:pk>/free-seat/<int:review>/", views.case_free_seat, name="case_free_seat"),
    path("cases/<int:pk>/take/", views.case_take, name="case_take"),
    path("cases/<int:pk>/adjudicate/", views.case_adjudicate, name="case_adjudicate"),
    path("cases/<int:pk>/adjudicate/draft/", views.case_decision_save, name="case_decision_save"),
    path("agreement/", views.agreement, name="agreement"),
    path("quality/", views.quality, name="quality"),
    path("quality/<int:pk>/", views.quality_score, name="quality_score"),
    path("quality/<int:pk>/replace/", views.quality_replace, name="quality_replace"),
]
