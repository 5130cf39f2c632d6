"""How the API's lists are cut into pages. A module of its own: the framework imports it while it imports itself."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
